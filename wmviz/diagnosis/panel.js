// The live panel: it puts what Python has written in its place, and keeps what a reader has opened and chosen.
const PARTS = ["verdict", "trouble", "causes", "table", "more"];

function render({ model, el }) {
  const root = document.createElement("section");
  root.className = "wmviz-watch";
  root.setAttribute("aria-label", "Diagnosis of a running job");
  const place = (tag, name, parent = root) => {
    const made = document.createElement(tag);
    made.className = name;
    parent.append(made);
    return made;
  };
  const parts = {};
  parts.verdict = place("div", "wmviz-now");
  parts.trouble = place("div", "wmviz-trouble");
  for (const said of [parts.verdict, parts.trouble]) {
    said.setAttribute("role", "status"); // a change is read aloud; all else changes too often for that
    said.setAttribute("aria-live", "polite");
  }
  const bar = place("div", "wmviz-bar");
  const button = place("button", "", bar);
  button.type = "button";
  const line = place("span", "", bar);
  const old = place("div", "wmviz-old");
  for (const name of ["causes", "table", "more"]) parts[name] = place("div", `wmviz-${name}`, old);
  el.append(root);

  const replace = (name) => {
    const target = parts[name];
    const html = model.get(name);
    const keyed = () => [...target.querySelectorAll("[data-key]")];
    const before = new Map(keyed().map((each) => [each.dataset.key, each]));
    const focused = target.contains(document.activeElement) ? document.activeElement : null;
    const holder = focused && focused.closest("[data-key]");
    const kind = focused && focused.tagName;
    const scrolled = new Map([...before].map(([key, each]) => [key, each.scrollLeft]));
    target.innerHTML = html;
    for (const each of keyed()) {
      const same = before.get(each.dataset.key);
      if (!same) continue;
      if (each.tagName === "DETAILS") each.open = same.open;
      each.scrollLeft = scrolled.get(each.dataset.key);
      if (same === holder) (each.tagName === kind ? each : each.querySelector(kind) || each).focus({ preventScroll: true });
    }
  };
  const control = () => {
    const running = model.get("running");
    button.hidden = !model.get("can_run");
    button.textContent = running ? "Stop reading" : "Go on reading";
    line.textContent = model.get("line");
    root.classList.toggle("wmviz-stale", Boolean(model.get("trouble")));
  };
  const changed = PARTS.map((name) => [`change:${name}`, () => (replace(name), control())]);
  changed.push(["change:running", control], ["change:line", control], ["change:can_run", control]);
  for (const [what, then] of changed) model.on(what, then);
  button.addEventListener("click", () => {
    model.set("running", !model.get("running"));
    model.save_changes();
  });
  PARTS.forEach(replace);
  control();
  model.send({ views: 1 });
  return () => {
    for (const [what, then] of changed) model.off(what, then);
    model.send({ views: -1 });
  };
}
export default { render };
