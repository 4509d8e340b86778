"""`python -m tests.bucket`: an S3 server on a free port, until its standard input ends.

Prints a line of JSON: its address, and the keys of somebody who may use its buckets. From then
on it does nothing for anybody else.
"""

import json
import os
import sys

# Making somebody who may use it takes three calls, for which there are no keys yet.
FIRST_CALLS = 3
os.environ["INITIAL_NO_AUTH_ACTION_COUNT"] = str(FIRST_CALLS)

import boto3  # noqa: E402
from moto.server import ThreadedMotoServer  # noqa: E402

ALL = {"Version": "2012-10-17", "Statement": {"Effect": "Allow", "Action": "*", "Resource": "*"}}


def main() -> None:
    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    address = f"http://{host}:{port}"
    iam = boto3.client(
        "iam",
        endpoint_url=address,
        region_name="us-east-1",
        aws_access_key_id="nobody",
        aws_secret_access_key="nothing",
    )
    iam.create_user(UserName="house")
    iam.put_user_policy(UserName="house", PolicyName="all", PolicyDocument=json.dumps(ALL))
    key = iam.create_access_key(UserName="house")["AccessKey"]
    facts = {"address": address, "key_id": key["AccessKeyId"], "key": key["SecretAccessKey"]}
    print(json.dumps(facts), flush=True)
    # Whoever started it has gone when this ends, however that was.
    sys.stdin.read()


if __name__ == "__main__":
    main()
