// The clock of an answer: it only shows what time it is; how long an answer took is measured in Python.
function render({ model, el }) {
  const text = document.createElement("span");
  const bar = document.createElement("progress");
  text.setAttribute("role", "timer");
  bar.setAttribute("aria-hidden", "true");
  bar.style.cssText = "width:12em;margin-right:10px;vertical-align:middle;accent-color:#4a6fa5";
  text.style.cssText = "font-variant-numeric:tabular-nums;color:var(--jp-ui-font-color1, inherit)";
  el.append(bar, text);

  let since = performance.now();
  let shown = 0;
  const minutes = (s) => `${Math.floor(s / 60)}:${String(s % 60).padStart(2, "0")}`;
  const draw = () => {
    const limit = model.get("limit_s");
    if (model.get("running")) shown = Math.floor((performance.now() - since) / 1000);
    bar.max = limit;
    bar.value = Math.min(shown, limit);
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
