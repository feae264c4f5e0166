#!/bin/sh
# Writes the digests of the images that the compose files run into .env beside them. Run it where
# there is internet, look at what changed, keep the file: without it compose refuses to start.
set -eu
cd "$(dirname "$0")"
umask 077
touch .env
digests=$(mktemp)
trap 'rm -f "$digests"' EXIT
for each in PYTHON=python:3.13-slim CADDY=caddy:2 POSTGRES=postgres:17 PROMETHEUS=prom/prometheus:v3.5.0; do
    name=${each%%=*} image=${each#*=}
    digest=$(docker buildx imagetools inspect "$image" --format '{{.Manifest.Digest}}')
    case $digest in sha256:*) ;; *) echo "no digest of $image" >&2; exit 1 ;; esac
    echo "NOMADP_${name}_SHA256=${digest#sha256:}" >> "$digests"
done
grep -v '^NOMADP_[A-Z]*_SHA256=' .env >> "$digests" || true # tokens stay
cat "$digests" > .env
