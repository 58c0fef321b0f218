"""A server for S3 (SeaweedFS) beside a command; see scripts/with-s3."""
import contextlib
import glob
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


def free_ports(count, address):
    """Ports that are free now, as are those 10,000 above, where the server listens for gRPC."""
    found = []
    while len(found) < count:
        with socket.create_server((address, 0)) as one:
            port = one.getsockname()[1]
            if port > 55_000 or port in found:
                continue
            try:
                socket.create_server((address, port + 10_000)).close()
            except OSError:
                continue
            found.append(port)
    return found


def wait_until_ready(server, address, port, log):
    while True:
        if server.poll() is not None:
            sys.exit(f"scripts/with-s3: the server ended with {server.returncode}:\n" + open(log).read()[-2000:])
        try:
            connection = http.client.HTTPConnection(address, port, timeout=2)
            connection.request("GET", "/media")
            if connection.getresponse().status in (200, 403, 404):
                return
        except OSError:
            pass
        time.sleep(0.05)


def make_bucket(weed, address, master, filer):
    """Makes the bucket by the server's own shell."""
    subprocess.run([weed, "shell", f"-master={address}:{master}", f"-filer={address}:{filer}"], input="s3.bucket.create -name media\n", text=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=60)


@contextlib.contextmanager
def serving(weed, address="127.0.0.1"):
    """A server with an empty bucket, as what a command finds in its environment."""
    with tempfile.TemporaryDirectory() as folder:
        master, volume, filer, s3 = free_ports(4, address)
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
                [weed, "-logtostderr=true", "server", f"-dir={folder}/data", f"-ip={address}", f"-ip.bind={address}", f"-master.port={master}",
                 f"-volume.port={volume}", "-filer", f"-filer.port={filer}", "-s3", f"-s3.port={s3}", f"-s3.config={folder}/s3.json",
                 "-master.telemetry=false", "-master.volumeSizeLimitMB=64", "-volume.max=20"],
                stdout=errors, stderr=errors, cwd=folder, env={**os.environ, "HOME": folder})
        try:
            wait_until_ready(server, address, s3, log)
            make_bucket(weed, address, master, filer)
            yield {"S3_ENDPOINT": f"http://{address}:{s3}", "S3_BUCKET": "media", "S3_CREDENTIALS": credentials, "S3_SERVER": str(server.pid)}
        finally:
            server.kill()
            server.wait()
            # The server makes local sockets in /tmp, whatever TMPDIR says. When it is killed, they stay.
            for port in (master, volume, filer, s3):
                for socket_file in glob.glob(f"/tmp/seaweedfs-*-{port}.sock") + glob.glob(f"/tmp/seaweedfs-*-{port + 10_000}.sock"):
                    os.unlink(socket_file)


def main(weed, command):
    with serving(weed) as environment:
        child = subprocess.Popen(command, env={**os.environ, **environment})
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda number, _: child.send_signal(number))
        return child.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
