#!/bin/sh
# Writes src/api/builtin/facts.generated.ts anew from the published Kubernetes Go modules. Needs Go and a module proxy;
# running and testing Flotilla need neither, because the result is committed.
set -eu
cd "$(dirname "$0")"
out=../../src/api/builtin/facts.generated.ts
GOWORK=off go run . >"$out.new"
mv "$out.new" "$out"
wc -c "$out"
