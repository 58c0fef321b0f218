"""Opens the pages of attache preview in a headless Chromium, and checks what people see.

    scripts/preview-pages BIN [--screenshots DIR]      BIN is the folder of the built executables

The checks: what the page shows of each kind of payload and medium; filter, search and keys; that strangers' text stays text, and that the page loads nothing; a
list of 10,000 notifications; and axe-core, which finds nothing serious in either appearance. With --screenshots, the pictures of the documentation are written.
"""
import argparse
import json
import random
import re
import subprocess
import tempfile
from pathlib import Path

from preview.browser import Browser
from serving.media import Origin
from serving.nginx import HOME, check

_MEDIA = HOME / "Fixtures" / "media"
#: The longest time that a step of scrolling may take in the page, in ms: a frame at 60 Hz.
_FRAME = 16.7


def _payload(alert, url=None, **aps):
    members = {"aps": {"alert": alert, **({"mutable-content": 1} if url else {}), **aps}}
    return members | ({"image": url} if url else {})


def cases(base):
    """The name of each case, and its payload."""
    long = "The ferry at 18:40 is cancelled because of the storm. " * 8
    return {
        "picture": _payload({"title": "Anna", "subtitle": "Berlin", "body": "sent a picture"}, base + "/photo-shown.jpg"),
        "actions": _payload({"title": "Anna", "body": "Are you coming?"}, base + "/photo-shown.jpg", category="MESSAGE", badge=3, sound="ping.caf"),
        "animation": _payload("A GIF moves", base + "/animation.gif"),
        "video": _payload("A film has controls", base + "/clip.mp4"),
        "sound": _payload("A song has controls", base + "/song.mp3"),
        "long": _payload({"title": "Ferries", "body": long.strip()}),
        "keys": _payload({"title-loc-key": "FERRY_TITLE", "loc-key": "FERRY_BODY", "loc-args": ["18:40"]}),
        "level": _payload("The gate closes", **{"interruption-level": "time-sensitive", "relevance-score": 0.75, "thread-id": "gate 7"}),
        "missing": _payload("The picture is missing", base + "/none.jpg"),
        "silent": {"aps": {"content-available": 1}},
        "badge": {"aps": {"badge": 7, "sound": "default"}},
        "markup": _payload("</script><script>document.title='taken'</script><img src=x onerror=alert(1)> & \"quotes\""),
    }


_CATEGORIES = {"categories": [{"identifier": "MESSAGE", "actions": [
    {"identifier": "reply", "title": "Reply", "textInput": {"buttonTitle": "Send"}},
    {"identifier": "later", "title": "Later", "icon": "clock"},
    {"identifier": "open", "title": "Open", "options": ["authenticationRequired", "foreground"]},
    {"identifier": "mute", "title": "Mute"},
    {"identifier": "delete", "title": "Delete", "options": ["destructive"]},
] + [{"identifier": f"more-{number}", "title": f"More {number}"} for number in range(7)]}]}


#: Chooses each row by its key, and returns what the page then shows.
_WALK = """
  const list = document.getElementById("list"), shown = [];
  const count = Number(document.getElementById("shown").textContent.split(" ")[0]);
  for (let index = 0; index < count; index++) {
    const cards = [...document.querySelectorAll("#detail section section, #detail .states > section")];
    const after = cards[cards.length - 1];
    shown.push({
      text: after.textContent, title: [...after.querySelectorAll(".title, .body")].map(node => node.textContent), images: after.querySelectorAll("img").length,
      video: after.querySelectorAll("video[controls]").length, thumbs: after.querySelectorAll(".thumb").length, audio: after.querySelectorAll("audio").length,
      actions: [...after.querySelectorAll("article")].map(card => card.querySelectorAll(".actions li").length),
      keys: after.querySelectorAll(".collapsed .key").length, detail: document.getElementById("detail").textContent,
      width: Math.max(0, ...await Promise.all([...after.querySelectorAll("img.media")].map(image => image.decode().then(() => image.naturalWidth)))),
      cut: [...after.querySelectorAll(".collapsed .text")].some(node => node.scrollHeight > node.clientHeight),
      selected: list.getAttribute("aria-activedescendant"),
    });
    list.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowDown", bubbles: true}));
  }
  return shown;
"""

_FILTER = """
  const of = id => document.getElementById(id), count = () => of("shown").textContent, found = {};
  const change = (id, value) => { of(id).value = value; of(id).dispatchEvent(new Event(id === "search" ? "input" : "change")); return count(); };
  found.search = change("search", "GIF"); change("search", "");
  found.outcome = change("outcome", "fallback"); change("outcome", "");
  found.reason = change("reason", "http.status"); change("reason", "");
  found.none = change("search", "no such text"); found.empty = of("detail").textContent;
  dispatchEvent(new Event("beforeprint"));
  found.printed = of("print").querySelectorAll(".entry").length;
  dispatchEvent(new Event("afterprint"));
  return found;
"""

_AXE = """
  const found = [];
  for (const theme of ["light", "dark"]) {
    document.documentElement.dataset.theme = theme;
    const result = await axe.run(document, {resultTypes: ["violations"]});
    for (const violation of result.violations) if (["serious", "critical"].includes(violation.impact))
      found.push(`${theme}: ${violation.id}: ${violation.nodes.map(node => node.html.slice(0, 120)).slice(0, 3).join(" ")}`);
  }
  return found;
"""


class Pages:
    def __init__(self, attache, folder):
        self.attache, self.folder = attache, folder

    def write(self, name, payloads, *flags, output=None):
        """The page of some payloads."""
        lines, page = self.folder / f"{name}.ndjson", self.folder / (output or f"{name}.html")
        lines.write_text("".join(json.dumps(payload) + "\n" for payload in payloads))
        run = subprocess.run(
            [self.attache, "preview", lines, "-o", page, "--app", "Harbour", *flags, "--", "--allow-http", "--allow-net", "127.0.0.0/8"],
            capture_output=True, text=True)
        check(run.returncode == 0, f"attache preview ended with {run.returncode}: {run.stderr}")
        return page if page.suffix == ".html" else page / "index.html"


def check_cases(pages, browser, base):
    categories = pages.folder / "categories.json"
    categories.write_text(json.dumps(_CATEGORIES))
    named = cases(base)
    for output in ("cases.html", "folder"):
        page = pages.write("cases", named.values(), "--categories", categories, output=output)
        browser.open(page)
        seen = dict(zip(named, browser.run(_WALK)))
        check([item["selected"] for item in seen.values()] == [f"row-{number}" for number in range(len(named))], "the arrow key does not choose the rows in turn")
        check(seen["picture"]["images"] == 2 and seen["picture"]["width"] == 900, f"{output} does not show the picture: {seen['picture']}")
        check(seen["animation"]["width"] > 0, f"{output} does not show the GIF")
        check(seen["video"]["thumbs"] == 1 and seen["sound"]["thumbs"] == 0, "a film has no thumbnail, or a song has one")
        check(seen["video"]["video"] == 1 and seen["sound"]["audio"] == 1, f"{output} has no controls for film and sound")
        check(seen["actions"]["actions"] == [4, 10], f"of 12 actions, {seen['actions']['actions']} are shown")
        for text in ("text input", "destructive", "asks to unlock", "2 that no phone shows", "ping.caf", "Badge3"):
            check(text in seen["actions"]["detail"], f"the actions do not show “{text}”")
        check(seen["long"]["cut"] and not seen["picture"]["cut"], "a long text is not cut after four lines, or a short one is")
        check(seen["keys"]["keys"] == 2 and "FERRY_BODY" in seen["keys"]["text"], "keys of the app's string table are not shown as such")
        for text in ("Time sensitive", "0.75", "gate 7"):
            check(text in seen["level"]["detail"], f"the level does not show “{text}”")
        check("http.status" in seen["missing"]["detail"] and "HTTP 404" in seen["missing"]["detail"], "the missing picture has no reason")
        check("silent push" in seen["silent"]["text"] and "only plays a sound" in seen["badge"]["text"], "what shows nothing does not say so")
        check(seen["markup"]["title"][0] == named["markup"]["aps"]["alert"], f"strangers' text changed: {seen['markup']['title']}")
    page = pages.folder / "cases.html"
    browser.open(page)
    found = browser.run(_FILTER)
    for name, value in {"search": "1 of 12", "outcome": "1 of 12", "reason": "1 of 12", "none": "0 of 12", "printed": 0}.items():
        check(found[name] == value, f"{name}: {found[name]} instead of {value}")
    check("Change the filter" in found["empty"], "an empty list gives no advice")
    return page


def check_keys(browser, page):
    """The keys that people press."""
    browser.open(page)
    chosen = 'return document.getElementById("list").getAttribute("aria-activedescendant")'
    browser.press("/")
    for letter in "gif":
        browser.press(letter)
    check(browser.run('return document.getElementById("shown").textContent') == "1 of 12", "/ does not lead to the search")
    browser.press("Escape")
    check(browser.run('return document.getElementById("shown").textContent') == "12 of 12", "Escape does not clear the search")
    for key, row in (("ArrowDown", 1), ("End", 11), ("ArrowDown", 11), ("ArrowUp", 10), ("Home", 0), ("ArrowUp", 0)):
        browser.press(key)
        check(browser.run(chosen) == f"row-{row}", f"{key} does not lead to row {row}")


def check_safety(browser, page, pages):
    """The page as people open it, with its policy."""
    browser.open(page)
    check(all(url == page.as_uri() or url.startswith("data:") for url in browser.requested), f"the page loads {browser.requested}")
    shown = browser.run("return document.documentElement.outerHTML")
    check("<title>cases.ndjson: 12 notifications</title>" in shown, "a stranger's text changed the page's title")
    check(shown.count("<script") == 2 and '<img src="x"' not in shown, "a stranger's text became an element")
    text = page.read_text()
    check(not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", text.split('id="data"')[0]), "the page refers to another place")
    policy = browser.run('return document.querySelector("meta[http-equiv]").content')
    check("default-src 'none'" in policy and "unsafe" not in policy, f"the policy is not strict: {policy}")
    works = browser.run("""
      const node = document.createElement("script");
      node.textContent = "document.documentElement.dataset.taken = 1";
      document.body.append(node);
      return document.documentElement.dataset.taken === undefined;
    """)
    check(works, "a script that the page does not have runs")


def check_fuzz(browser, pages):
    """Strangers' strings in the places of texts, with a fixed seed."""
    draw = random.Random(7)
    pieces = ["</script>", "<!--", "-->", "<img src=x onerror=alert(1)>", "{{title}}", "{{{data}}}", "\u2028", "\u2029", "\u202e", "\0", "\\", "\"", "'", "&lt;", "<", ">",
              "😀", "é", "javascript:alert(1)", "\n", "]]>", "<svg/onload=alert(1)>", "${1}", "`"]
    strings = ["".join(draw.choice(pieces) for _ in range(draw.randrange(1, 6))) for _ in range(300)]
    for vectors in sorted((HOME / "Fixtures" / "vectors").glob("[!e]*.json")):
        strings += [vector["url"] for vector in json.loads(vectors.read_text()) if isinstance(vector.get("url"), str)]
    page = pages.write("fuzz", [_payload({"title": text, "body": "b"}) for text in strings])
    browser.open(page)
    titles = [item["title"][0] for item in browser.run(_WALK)]
    for text, title in zip(strings, titles, strict=True):
        check(text.strip() == title.strip(), f"{text!r} is shown as {title!r}")
    return len(strings)


def check_many(browser, pages):
    payloads = [_payload({"title": f"No. {number}", "body": "A text of usual length, as campaigns have it."}) for number in range(10_000)]
    page = pages.write("many", payloads)
    browser.open(page, "#measure")
    figures = {name: float(value) for name, value in browser.run("return {...document.documentElement.dataset}").items()}
    check(figures["drawnRows"] < 60, f"{figures['drawnRows']} rows are drawn at once")
    check(figures["medianStep"] <= _FRAME, f"a step of scrolling takes {figures['medianStep']} ms, more than a frame of {_FRAME} ms")
    return figures


def check_access(browser, page, axe):
    browser.open(page)
    browser.run(next(axe.rglob("axe.min.js")).read_text())
    found = browser.run(_AXE)
    check(not found, "axe-core finds: " + "; ".join(found))


def write_screenshots(pages, browser, base, folder):
    folder.mkdir(parents=True, exist_ok=True)
    categories = pages.folder / "categories.json"
    for name, payload in cases(base).items():
        page = pages.write(f"case-{name}", [payload], "--categories", categories)
        browser.open(page, size=(1000, 760))
        browser.run("await Promise.all([...document.images].map(image => image.decode()))")
        browser.screenshot(folder / f"{name}.png")


def main():
    parser = argparse.ArgumentParser(usage="scripts/preview-pages BIN [--screenshots DIR]")
    parser.add_argument("bin", type=Path)
    parser.add_argument("axe", type=Path)
    parser.add_argument("--screenshots", type=Path)
    chosen = parser.parse_args()
    files = {f"/{name}": (_MEDIA / name).read_bytes() for name in ("animation.gif", "clip.mp4", "song.mp3")}
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        # A picture of the size that people send.
        subprocess.run(["ffmpeg", "-v", "error", "-f", "lavfi", "-i", "gradients=s=900x600:n=4:seed=5:duration=1", "-frames:v", "1", folder / "shown.jpg"], check=True)
        files["/photo-shown.jpg"] = (folder / "shown.jpg").read_bytes()
        origin = Origin(files)
        base = f"http://127.0.0.1:{origin.port}"
        pages = Pages(chosen.bin.resolve() / "attache", folder)
        with Browser(folder / "profile") as browser:
            page = check_cases(pages, browser, base)
            check_keys(browser, page)
            check_safety(browser, page, pages)
            strings = check_fuzz(browser, pages)
            figures = check_many(browser, pages)
            check_access(browser, page, chosen.axe)
            if chosen.screenshots:
                write_screenshots(pages, browser, base, chosen.screenshots)
    print(f"12 cases, {strings} strings; 10,000 rows: a step of scrolling takes {figures['medianStep']} ms, {figures['slowestStep']} ms at most")


if __name__ == "__main__":
    main()
