"use strict";
// Draws the notifications of the JSON text in the page. Strangers' text becomes text nodes and nothing else.
(() => {
  const ROW = 56, AHEAD = 6, PRINTED = 200;
  const {items, files, app} = JSON.parse(document.getElementById("data").textContent);
  const by = id => document.getElementById(id);
  const [list, rows, detail] = [by("list"), by("rows"), by("detail")];
  let shown = items, chosen = -1;

  function make(name, properties = {}, ...children) {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
      if (value == null || value === false) continue;
      if (key === "class") node.className = value; else node.setAttribute(key, value);
    }
    node.append(...children.flat().filter(child => child != null && child !== ""));
    return node;
  }

  const size = bytes => bytes < 1000 ? `${bytes} bytes` : bytes < 1e6 ? `${(bytes / 1e3).toFixed(1)} KB` : `${(bytes / 1e6).toFixed(1)} MB`;
  const plain = text => text == null ? "" : String(text);
  const label = item => plain(item.after.title || item.after.body || item.after.subtitle) || item.why || "no text";

  // MARK: Media

  function describe(name) {
    const file = files[name];
    return file ? `${file.mime}, ${size(file.size)}` : "a file that is not in the store";
  }

  function medium(name, item) {
    const file = files[name];
    if (!file || !file.url) return make("p", {class: "media faint"}, file && file.note ? `${describe(name)}: ${file.note}` : describe(name));
    const about = `${describe(name)}, attached to “${label(item)}”`;
    if (file.mime.startsWith("image/")) return make("img", {class: "media", src: file.url, alt: about, loading: "lazy"});
    const isVideo = file.mime.startsWith("video/");
    return make(isVideo ? "video" : "audio", {class: "media", src: file.url, controls: "", preload: "metadata", "aria-label": about});
  }

  function thumbnail(card) {
    const name = card.media.find(name => files[name] && files[name].url && /^(image|video)\//.test(files[name].mime));
    if (!name) return null;
    if (files[name].mime.startsWith("image/")) return make("img", {class: "thumb", src: files[name].url, alt: "", loading: "lazy"});
    return make("video", {class: "thumb", src: files[name].url, preload: "metadata", tabindex: "-1", "aria-hidden": "true"});
  }

  // MARK: A notification

  function text(value, isKey, kind) {
    if (!value) return null;
    return make("div", {class: isKey ? `${kind} key` : kind, title: isKey ? "A key that the app's own string table translates" : null}, value);
  }

  const levels = new Map([["passive", "Delivered quietly"], ["time-sensitive", "Time sensitive"], ["critical", "Critical"]]);
  // What a phone shows at most: https://developer.apple.com/documentation/usernotifications/declaring-your-actionable-notification-types
  const EXPANDED_ACTIONS = 10, COLLAPSED_ACTIONS = 4;

  function actions(card, most) {
    if (card.actions.length === 0) return null;
    return make("ul", {class: "actions"}, card.actions.slice(0, most).map(action => make(
      "li", {class: action.destructive ? "destructive" : null},
      [action.title, action.input ? "text input" : "", action.destructive ? "destructive" : "", action.authentication ? "asks to unlock" : "", action.icon || ""]
        .filter(Boolean).join(" · "))));
  }

  function words(card, isExpanded) {
    return make(
      "div", {class: "words"},
      make("div", {class: "app"}, make("span", {}, app), make("span", {}, "now")),
      levels.has(card.level) ? make("div", {class: "level"}, levels.get(card.level)) : null,
      make(
        "div", {class: "text"}, text(card.title, card.titleIsKey, "title"), text(card.subtitle, card.subtitleIsKey, "subtitle"),
        text(card.body, card.bodyIsKey, "body")),
      isExpanded && card.sound ? make("div", {class: "faint"}, `Sound: ${card.sound}`) : null);
  }

  function notification(card, item, isExpanded) {
    const badge = card.badge == null ? null : make("span", {class: "badge", "aria-label": `badge ${card.badge}`, role: "img"}, String(card.badge));
    return make(
      "article", {class: `card ${isExpanded ? "expanded" : "collapsed"}`, "aria-label": isExpanded ? "expanded" : "collapsed"},
      make(
        "div", {class: "top"}, make("span", {class: "icon"}, make("span", {"aria-hidden": "true"}, [...app][0].toUpperCase()), badge),
        words(card, isExpanded), isExpanded ? null : thumbnail(card)),
      isExpanded ? card.media.map(name => medium(name, item)) : null, actions(card, isExpanded ? EXPANDED_ACTIONS : COLLAPSED_ACTIONS));
  }

  function state(title, card, item) {
    const what = item.kind === "alert" ? [notification(card, item, false), notification(card, item, true)]
      : make("p", {class: "nothing"}, item.why || "Shows nothing.");
    return make("section", {"aria-label": title}, make("h3", {}, title), make("div", {class: "screen"}, what));
  }

  // MARK: What is known of it

  function facts(item) {
    const card = item.after, pairs = [
      ["Scenario", item.scenario], ["Expected", item.expected], ["Outcome", item.outcome], ["Reason", item.reason], ["Dialect", item.dialect], ["Wait for a place", item.placeWait ? `${item.placeWait} ms` : null],
      ["Time", item.elapsed == null ? null : `${item.elapsed} ms`],
      ["Category", card.category], ["Group", card.thread], ["Relevance", card.relevance], ["Level", card.level], ["Sound", card.sound], ["Badge", card.badge],
      ["More actions", card.actions.length > EXPANDED_ACTIONS ? `${card.actions.length - EXPANDED_ACTIONS} that no phone shows` : null],
    ];
    return make("dl", {}, pairs.filter(([, value]) => value != null && value !== "")
      .flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, String(value))]));
  }

  function tried(item) {
    if (item.media.length === 0) return null;
    return make(
      "table", {}, make("thead", {}, make("tr", {}, ["URL", "Result", "Size", "Time"].map(name => make("th", {scope: "col"}, name)))),
      make("tbody", {}, item.media.map(media => make(
        "tr", {}, make("td", {}, media.url), make("td", {}, [media.reason || media.type || "", media.status ? `HTTP ${media.status}` : "", media.explanation || ""].filter(Boolean).join(" · ")),
        make("td", {}, media.bytes ? size(media.bytes) : ""), make("td", {}, media.total == null ? "" : `${media.total} ms`)))));
  }

  function findings(item) {
    if (item.findings.length === 0) return null;
    return make("ul", {class: "findings"}, item.findings.map(finding =>
      make("li", {}, `${finding.severity}: ${finding.text} (${finding.code}${finding.path ? `, ${finding.path}` : ""}). ${finding.advice}`)));
  }

  function entry(item) {
    const parts = [make("h2", {}, `${item.scenario || `Line ${item.line}`}: ${label(item)}`), make("div", {class: "states"}, state("Before", item.before, item), state("After", item.after, item)), make("h3", {}, "Run"), facts(item)];
    const media = tried(item), mistakes = findings(item);
    if (item.deviations.length > 0) parts.push(make("h3", {}, "Differs from the scenario"), make("ul", {class: "findings note"}, item.deviations.map(text => make("li", {}, text))));
    if (media) parts.push(make("h3", {}, "Media"), media);
    if (mistakes) parts.push(make("h3", {}, "Findings of lint"), mistakes);
    return make("div", {class: "entry"}, parts);
  }

  // MARK: The list

  const drawn = new Map();

  function row(index) {
    const item = shown[index];
    const node = make(
      "div", {class: "row", role: "option", id: `row-${index}`, "aria-selected": String(index === chosen), "aria-posinset": index + 1, "aria-setsize": shown.length},
      make("div", {}, label(item)), make("div", {class: "faint"}, [item.scenario || `line ${item.line}`, item.outcome, item.reason, item.dialect, item.deviations.length > 0 ? "differs" : ""].filter(Boolean).join(" · ")));
    node.style.transform = `translateY(${index * ROW}px)`;
    node.addEventListener("click", () => choose(index));
    return node;
  }

  function draw() {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW) - AHEAD);
    const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / ROW) + AHEAD);
    for (const [index, node] of drawn) if (index < first || index >= last) { node.remove(); drawn.delete(index); }
    const fresh = document.createDocumentFragment();
    for (let index = first; index < last; index++) if (!drawn.has(index)) { const node = row(index); drawn.set(index, node); fresh.append(node); }
    rows.append(fresh);
  }

  function choose(index) {
    if (index < 0 || index >= shown.length) return;
    drawn.get(chosen)?.setAttribute("aria-selected", "false");
    chosen = index;
    const top = index * ROW;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + ROW > list.scrollTop + list.clientHeight) list.scrollTop = top + ROW - list.clientHeight;
    draw();
    drawn.get(chosen)?.setAttribute("aria-selected", "true");
    list.setAttribute("aria-activedescendant", `row-${index}`);
    detail.replaceChildren(entry(shown[index]));
    detail.scrollTop = 0;
  }

  function show(found) {
    for (const node of drawn.values()) node.remove();
    drawn.clear();
    shown = found;
    chosen = -1;
    rows.style.height = `${shown.length * ROW}px`;
    by("shown").textContent = `${shown.length} of ${items.length}`;
    list.scrollTop = 0;
    list.removeAttribute("aria-activedescendant");
    draw();
    if (shown.length > 0) choose(0);
    else detail.replaceChildren(make("p", {class: "faint"}, "No notification is like this. Change the filter."));
  }

  // MARK: Filter

  const searched = items.map(item => [
    item.scenario || `line ${item.line}`, item.expected, item.after.title, item.after.subtitle, item.after.body, item.before.title, item.before.body, item.why, ...item.media.map(media => media.url),
  ].map(plain).join("\n").toLowerCase());

  function filter() {
    const wanted = by("search").value.toLowerCase(), [outcome, reason, dialect] = ["outcome", "reason", "dialect"].map(id => by(id).value);
    show(items.filter((item, index) => (!outcome || item.outcome === outcome) && (!reason || item.reason === reason || item.media.some(media => media.reason === reason))
      && (!dialect || item.dialect === dialect) && searched[index].includes(wanted)));
  }

  for (const [id, values] of [["outcome", item => [item.outcome]], ["reason", item => [item.reason, ...item.media.map(media => media.reason)]], ["dialect", item => [item.dialect]]]) {
    by(id).append(...[...new Set(items.flatMap(values).filter(Boolean))].sort().map(value => make("option", {value}, value)));
    by(id).addEventListener("change", filter);
  }
  by("search").addEventListener("input", filter);
  by("controls").addEventListener("submit", event => event.preventDefault());
  by("theme").addEventListener("change", event => { document.documentElement.dataset.theme = event.target.value; });

  // MARK: Keys

  const page = () => Math.max(1, Math.floor(list.clientHeight / ROW) - 1);
  const moves = {ArrowDown: () => chosen + 1, ArrowUp: () => chosen - 1, PageDown: () => Math.min(chosen + page(), shown.length - 1), PageUp: () => Math.max(chosen - page(), 0), Home: () => 0, End: () => shown.length - 1};
  list.addEventListener("keydown", event => {
    const move = moves[event.key];
    if (!move || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    choose(move());
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(INPUT|SELECT)$/.test(document.activeElement?.tagName ?? "")) { event.preventDefault(); by("search").focus(); }
    if (event.key === "Escape" && document.activeElement === by("search")) { by("search").value = ""; filter(); list.focus(); }
  });

  let isDue = false;
  list.addEventListener("scroll", () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; draw(); });
  }, {passive: true});
  addEventListener("resize", draw);
  addEventListener("beforeprint", () => {
    by("print").hidden = false;
    by("print").replaceChildren(...shown.slice(0, PRINTED).map(entry), shown.length > PRINTED ? make("p", {}, `and ${shown.length - PRINTED} more; filter before you print`) : "");
  });
  addEventListener("afterprint", () => { by("print").hidden = true; by("print").replaceChildren(); });

  // MARK: The page's own measurement

  // With #measure, scrolls through the whole list and notes the time in which a step is drawn and laid out, in ms: the median, and the longest.
  function measure() {
    const times = [];
    const steps = 200, height = shown.length * ROW;
    for (let step = 0; step <= steps; step++) {
      const began = performance.now();
      list.scrollTop = height * step / steps;
      draw();
      void list.offsetHeight;
      times.push(performance.now() - began);
    }
    times.sort((one, other) => one - other);
    document.documentElement.dataset.medianStep = times[times.length >> 1].toFixed(2);
    document.documentElement.dataset.slowestStep = times[times.length - 1].toFixed(2);
    document.documentElement.dataset.drawnRows = String(drawn.size);
  }

  show(items);
  if (location.hash === "#measure") measure();
})();
