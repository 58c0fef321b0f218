"""A server for S3 (SeaweedFS) beside a command; see scripts/with-s3."""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

KEY, SECRET = "AKIDATTACHE", "a-secret-of-the-tests"


def free_ports(count):
    """Ports that are free now, as are those 10,000 above, where the server listens for gRPC."""
    found = []
    while len(found) < count:
        with socket.create_server(("127.0.0.1", 0)) as one:
            port = one.getsockname()[1]
            if port > 55_000 or port in found:
                continue
            try:
                socket.create_server(("127.0.0.1", port + 10_000)).close()
            except OSError:
                continue
            found.append(port)
    return found


def wait_until_ready(server, port, log):
    while True:
        if server.poll() is not None:
            sys.exit(f"scripts/with-s3: the server ended with {server.returncode}:\n" + open(log).read()[-2000:])
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
            connection.request("GET", "/media")
            if connection.getresponse().status in (200, 403, 404):
                return
        except OSError:
            pass
        time.sleep(0.05)


def make_bucket(weed, master, filer):
    """Makes the bucket by the server's own shell."""
    subprocess.run([weed, "shell", f"-master=127.0.0.1:{master}", f"-filer=127.0.0.1:{filer}"], input="s3.bucket.create -name media\n", text=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)


def main(weed, command):
    with tempfile.TemporaryDirectory() as folder:
        master, volume, filer, s3 = free_ports(4)
        configuration = {"identities": [
            {"name": "anonymous", "actions": ["Read:media"]},
            {"name": "attache", "credentials": [{"accessKey": KEY, "secretKey": SECRET}], "actions": ["Admin", "Read", "Write", "List", "Tagging"]},
        ]}
        with open(f"{folder}/s3.json", "w") as file:
            json.dump(configuration, file)
        credentials = f"{folder}/credentials"
        with open(os.open(credentials, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(f"[default]\naws_access_key_id = {KEY}\naws_secret_access_key = {SECRET}\n")
        os.mkdir(f"{folder}/data")
        log = f"{folder}/log"
        with open(log, "wb") as errors:
            server = subprocess.Popen(
                [weed, "-logtostderr=true", "server", f"-dir={folder}/data", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-master.port={master}",
                 f"-volume.port={volume}", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}", f"-s3.config={folder}/s3.json",
                 "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20"],
                stdout=errors, stderr=errors, cwd=folder, env={**os.environ, "HOME": folder})
        try:
            wait_until_ready(server, s3, log)
            make_bucket(weed, master, filer)
            environment = {"S3_ENDPOINT": f"http://127.0.0.1:{s3}", "S3_BUCKET": "media", "S3_CREDENTIALS": credentials, "S3_SERVER": str(server.pid)}
            child = subprocess.Popen(command, env={**os.environ, **environment})
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, lambda number, _: child.send_signal(number))
            return child.wait()
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
