"""MiniStack with two things changed.

Whatever it would invoke (custom resources, stream mappings, schedules) runs under the rehearsal's Lambda environments: MiniStack forwards
an invocation by HTTP where a function is told so by name; here every function is. And an alarm over several metrics is deployed as one
over the first of them: MiniStack knows no metric math, and nothing here would raise it."""

import os
import sys

from ministack.services import lambda_svc
from ministack.services.cloudformation import provisioners

lambda_svc._proxy_url_for = lambda config: f"{os.environ['REHEARSAL_INVOKE_URL']}/{config.get('FunctionName', '')}"

alarm_record = provisioners._cw_metric_alarm_record


def alarm_over_first_metric(name, props):
    for metric in props.get("Metrics") or []:
        if "MetricStat" in metric:
            first = metric["MetricStat"]["Metric"]
            props = {**props, "Namespace": first["Namespace"], "MetricName": first["MetricName"]}
            break
    return alarm_record(name, {key: value for key, value in props.items() if key != "Metrics"})


provisioners._cw_metric_alarm_record = alarm_over_first_metric

if __name__ == "__main__":
    sys.argv = ["ministack"]
    from ministack.app import main

    main()
