#!/usr/bin/env bash
# Start a collector, send a first report, and see what the operator sees.
# Needs: pip install "nomadp[collector,tables,analysis]"
set -euo pipefail
folder=${1:-five-minutes}
port=${2:-8000}
mkdir -p "$folder" && cd "$folder"

# A generated city: public locations, and trajectories to report.
nomadp data build city --out city

# 1. The task: its query and its privacy guarantee. Its id is the hash of its contents.
nomadp task create --locations city/locations.csv --epsilon 4 --length 4 \
    --purpose "Where buses are missing" --end 2027-10-01 --out task

# 2. The collector: one process with one file.
nomadp serve task --store reports.sqlite --port "$port" --operator-port 0 &
collector=$!
trap 'kill "$collector"; wait "$collector" || true' EXIT
until python3 -c "import socket; socket.create_connection(('127.0.0.1', $port))" 2>/dev/null; do
    sleep 0.2
done

# 3. A device: charges its ledger, perturbs a trajectory, stores the report and sends it.
nomadp report city/trajectories.csv --task task --to "http://127.0.0.1:$port" \
    --home device --now --yes
nomadp ledger show --home device
nomadp collector status --store reports.sqlite
