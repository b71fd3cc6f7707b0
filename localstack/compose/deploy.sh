#!/usr/bin/env bash
# Bootstraps and deploys the CDK app into whatever emulator AWS_ENDPOINT_URL names (LocalStack of the compose file when it names none),
# with one administrator, whose token is in TOKEN.   deploy.sh [flags of cdk deploy]
set -euo pipefail
cd "$(dirname "$0")/../.."

export AWS_ENDPOINT_URL=${AWS_ENDPOINT_URL:-http://localhost:4566}
export AWS_ENDPOINT_URL_S3=${AWS_ENDPOINT_URL_S3:-$AWS_ENDPOINT_URL}
export AWS_ACCESS_KEY_ID=${AWS_ACCESS_KEY_ID:-test} AWS_SECRET_ACCESS_KEY=${AWS_SECRET_ACCESS_KEY:-test}
export AWS_REGION=${AWS_REGION:-us-east-1} AWS_DEFAULT_REGION=${AWS_REGION:-us-east-1}
token=${TOKEN:-smoke-token}
outputs=${OUTPUTS:-.cache/localstack-outputs.json}

npx cdk bootstrap "aws://000000000000/$AWS_REGION" --no-notices
npx cdk deploy --require-approval never --no-notices --outputs-file "$outputs" \
  --parameters "StaticTokens=$token,admin,admin,\"system:masters\"" "$@"
