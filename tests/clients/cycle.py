"""Runs the calls of a file by redis-py: host, port, file. Prints the answers as JSON, one a line."""

import json
import sys
import time

import redis

host, port, path = sys.argv[1:]
client = redis.Redis(host=host, port=int(port), decode_responses=True)
with open(path) as file:
    asked = json.load(file)
for source in asked["scripts"]:
    client.script_load(source)
for call in asked["calls"]:
    time.sleep(call["pause_ms"] / 1000)
    _, sha, count, *words = call["argv"]
    try:
        answer = client.evalsha(sha, int(count), *words)
    except redis.exceptions.ResponseError as error:
        answer = {"error": str(error)}
    print(json.dumps(answer))
