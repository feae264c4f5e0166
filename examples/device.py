"""A person's device, in twenty lines: one journey, reported once.

python examples/device.py HOME TASK_URL        the URL ends in the id of the task
"""

import sys

import nomadp

JOURNEY = [(40.0012, -74.0003), (40.0120, -73.9921), (40.0391, -73.9433)]  # lat, lng


def main(home: str, url: str) -> None:
    with nomadp.Client(home) as client:
        task = client.join(url)
        print(f"{task.purpose} (epsilon {task.epsilon}, {client.budget().remaining} left)")
        receipt = client.report(JOURNEY)
        print(f"{receipt.state}: {receipt.report_id}")


if __name__ == "__main__":
    main(*sys.argv[1:])
