// The clock of an answer: it only shows what time it is; how long an answer took is measured in Python.
function render({ model, el }) {
  const line = document.createElement("div"); // el itself has the styles of its place in the box
  const text = document.createElement("span");
  const track = document.createElement("span");
  const bar = document.createElement("span");
  text.setAttribute("role", "timer");
  track.setAttribute("aria-hidden", "true");
  line.style.cssText = "display:flex;align-items:center;gap:10px;color:var(--jp-ui-font-color1, inherit)";
  track.style.cssText = "width:12em;height:6px;border:1px solid currentColor;border-radius:4px;overflow:hidden";
  bar.style.cssText = "display:block;height:100%;background:#4a6fa5";
  text.style.cssText = "font-variant-numeric:tabular-nums";
  track.append(bar);
  line.append(track, text);
  el.append(line);

  let since = performance.now();
  let shown = 0;
  const minutes = (s) => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  const draw = () => {
    const limit = model.get("limit_s");
    if (model.get("running")) shown = Math.floor((performance.now() - since) / 1000);
    bar.style.width = `${limit ? Math.min(100, (100 * shown) / limit) : 0}%`;
    text.textContent = `${minutes(shown)} of ${minutes(limit)}` + (shown > limit ? " · come to the end" : "");
  };
  const restart = () => {
    since = performance.now();
    draw();
  };
  model.on("change:question", restart);
  model.on("change:running", draw);
  const ticking = setInterval(draw, 1000);
  draw();
  return () => {
    clearInterval(ticking);
    model.off("change:question", restart);
    model.off("change:running", draw);
  };
}
export default { render };
