"""A headless Chromium, driven over a pipe by the DevTools protocol."""
import base64
import json
import os
import subprocess

from serving.nginx import check

#: How long one command may take, in seconds: that is far more than any takes.
_PATIENCE = 120


class Browser:
    def __init__(self, profile):
        (commands, self._commands), (self._replies, replies) = os.pipe(), os.pipe()
        arguments = ["chromium", "--headless", "--disable-gpu", "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={profile}"]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        # The browser reads from descriptor 3 and writes to 4.
        self._process = subprocess.Popen(
            ["timeout", str(_PATIENCE * 3), "bash", "-c", f'exec "$@" 3<&{commands} 4>&{replies}', "bash", *arguments], pass_fds=(commands, replies),
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(replies)
        self._unread, self._number, self._session = b"", 0, None
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self._call("Page.enable")
        self._call("Network.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.close(self._commands)
        self._process.wait()
        os.close(self._replies)

    def _message(self):
        while b"\0" not in self._unread:
            piece = os.read(self._replies, 1 << 20)
            check(piece, "chromium has ended")
            self._unread += piece
        text, self._unread = self._unread.split(b"\0", 1)
        return json.loads(text)

    def _call(self, method, until=None, **parameters):
        """The result of a command, once the event `until` has come as well. The addresses that the page asked for are in `requested`."""
        self._number += 1
        message = {"id": self._number, "method": method, "params": parameters} | ({"sessionId": self._session} if self._session else {})
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        result = None
        while result is None or until:
            message = self._message()
            if message.get("method") == until:
                until = None
            if message.get("method") == "Network.requestWillBeSent":
                self.requested.append(message["params"]["request"]["url"])
            if message.get("id") == self._number:
                check("error" not in message, f"{method}: {message.get('error')}")
                result = message["result"]
        return result

    def open(self, page, fragment="", size=(1200, 1000)):
        self.requested = []
        self._call("Emulation.setDeviceMetricsOverride", width=size[0], height=size[1], deviceScaleFactor=1, mobile=False)
        # Another fragment alone would not load the page.
        self._call("Page.navigate", url="about:blank", until="Page.loadEventFired")
        self._call("Page.navigate", url=page.as_uri() + fragment, until="Page.loadEventFired")
        self.requested = [url for url in self.requested if url != "about:blank"]

    def run(self, script):
        """What an asynchronous function in the page returns. The page's policy does not apply to it."""
        found = self._call("Runtime.evaluate", expression=f"(async () => {{ {script} }})()", awaitPromise=True, returnByValue=True)
        check("exceptionDetails" not in found, f"the script in the page failed: {found.get('exceptionDetails')}")
        return found["result"].get("value")

    def press(self, key):
        code = {"ArrowDown": 40, "ArrowUp": 38, "End": 35, "Home": 36, "Escape": 27}.get(key, 0)
        text = {"text": key} if len(key) == 1 else {}
        self._call("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **text)
        self._call("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def screenshot(self, picture):
        picture.write_bytes(base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"]))
