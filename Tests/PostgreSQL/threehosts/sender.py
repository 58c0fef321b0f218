"""A sender that notes what it receives.

    sender.py HOST FILE      a line for each payload: its id, the host, and the picture's URL, or - without one
"""
import json
import os
import sys

host, file = sys.argv[1], os.open(sys.argv[2], os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
for line in sys.stdin:
    push = json.loads(line)
    pictures = push.get("attache", {}).get("attachments", [])
    os.write(file, f"{push['id']} {host} {pictures[0]['url'] if pictures else '-'}\n".encode())
    print("ok", flush=True)
