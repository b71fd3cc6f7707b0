"""MiniStack with one thing changed: whatever it would invoke (custom resources, stream mappings, schedules) runs under the rehearsal's
Lambda environments. MiniStack forwards an invocation by HTTP where a function is told so by name; here every function is."""

import os
import sys

from ministack.services import lambda_svc

lambda_svc._proxy_url_for = lambda config: f"{os.environ['REHEARSAL_INVOKE_URL']}/{config.get('FunctionName', '')}"

if __name__ == "__main__":
    sys.argv = ["ministack"]
    from ministack.app import main

    main()
