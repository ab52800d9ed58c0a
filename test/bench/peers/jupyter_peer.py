"""jupyter_client with ipykernel, measured the way its own documentation uses it. Prints one JSON object of milliseconds."""

import json
import statistics
import sys
import time

from jupyter_client.manager import start_new_kernel


def run(client, code):
    """Until reply and idle, which is when jupyter_client itself calls a run over."""
    began = time.perf_counter()
    client.execute_interactive(code, output_hook=lambda message: None, timeout=120)
    return (time.perf_counter() - began) * 1000


def main(rounds):
    began = time.perf_counter()
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        run(client, "1+1")
        cold = (time.perf_counter() - began) * 1000
        warm = statistics.median(run(client, "1+1") for _ in range(rounds))
        flood = run(client, "for i in range(200_000): print(i)")
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    print(json.dumps({"cold": cold, "warm": warm, "flood200k": flood}))


main(int(sys.argv[1]))
