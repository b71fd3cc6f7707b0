#!/usr/bin/env bash
# The smoke test of what deploy.sh deployed. URL names the API where it cannot be told from the stack's outputs.
set -euo pipefail
cd "$(dirname "$0")/../.."

outputs=${OUTPUTS:-.cache/localstack-outputs.json}
url=${URL:-}
if [ -z "$url" ]; then
  # Emulators print AWS's host names, and serve them under their own.
  endpoint=$(node -p 'Object.values(JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8")))[0].Endpoint' "$outputs")
  id=$(sed -E 's#https://([^.]+)\..*#\1#' <<<"$endpoint")
  stage=${endpoint##*/}
  url="https://$id.execute-api.localhost.localstack.cloud:4566/$stage"
fi
exec node scripts/run.mjs localstack/smoke/main.ts --url "$url" --token "${TOKEN:-smoke-token}" --insecure
