#!/bin/sh
# Writes the digests of the images in the compose files to .env in this folder. Run it with internet
# access, review the changes and keep the file: docker compose does not start without it.
set -eu
cd "$(dirname "$0")"
umask 077
touch .env
digests=$(mktemp)
trap 'rm -f "$digests"' EXIT
for entry in PYTHON=python:3.13-slim CADDY=caddy:2 POSTGRES=postgres:17 PROMETHEUS=prom/prometheus:v3.5.0; do
    name=${entry%%=*} image=${entry#*=}
    digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
    case $digest in sha256:*) ;; *) echo "$image has no digest" >&2; exit 1 ;; esac
    echo "NOMADP_${name}_SHA256=${digest#sha256:}" >> "$digests"
done
grep -v '^NOMADP_[A-Z]*_SHA256=' .env >> "$digests" || true # keep the tokens
cat "$digests" > .env
