// Moves through the slides. A question stops: it is told first, and only the next step goes on.
const slides = [...document.querySelectorAll("section")];
const LEAST_PLANE = 150;
// A stage is laid out on a screen of this size, and larger ones show it larger.
const [STAGE_WIDTH, STAGE_HEIGHT] = [1280, 800];
const [LEAST_GROWTH, MOST_GROWTH] = [0.7, 1.5];
let at = -1;

function go(to) {
  const next = Math.max(0, Math.min(slides.length - 1, to));
  if (next === at) return;
  slides[at]?.classList.remove("here");
  at = next;
  slides[at].classList.add("here");
  document.getElementById("at").textContent = `${at + 1} / ${slides.length}`;
  history.replaceState(null, "", `#${at + 1}`);
  document.activeElement?.blur();
  fit();
}

function waits(slide) {
  return slide.classList.contains("ask") && !slide.classList.contains("told");
}

function on() {
  if (waits(slides[at])) slides[at].classList.add("told");
  else go(at + 1);
}

function pick(slide, button) {
  if (!button || slide.classList.contains("told")) return;
  for (const other of slide.querySelectorAll(".choices button")) other.classList.toggle("picked", other === button);
}

/** Make what is on this slide as large as there is room. */
function fit() {
  const place = slides[at].querySelector("[data-wmviz-stage]");
  if (place) fitStage(place);
  else fitText(slides[at]);
}

/** Text for the last row: as large as it can be, also when the question is told. */
function fitText(slide) {
  const told = slide.classList.contains("told");
  if (slide.classList.contains("ask")) slide.classList.add("told");
  const foot = slide.querySelector(".source").getBoundingClientRect().top - 8;
  const content = [...slide.querySelectorAll(".body, .body *, .choices")];
  const fits = () => content.every((node) => node.getBoundingClientRect().bottom <= foot && node.scrollWidth <= node.clientWidth + (node.clientWidth ? 1 : 1e9));
  for (let grow = MOST_GROWTH; grow >= LEAST_GROWTH; grow -= 0.04) {
    slide.style.setProperty("--grow", grow);
    if (fits()) break;
  }
  slide.classList.toggle("told", told);
}

/** Make the stage as large as the screen is, and its plane as high as the stage around it leaves room. */
function fitStage(place) {
  const stage = place.wmvizStage;
  if (!stage?.plane) return again(place);
  const zoom = Math.max(1, Math.min(innerWidth / STAGE_WIDTH, innerHeight / STAGE_HEIGHT));
  if (Number(place.dataset.zoom) !== zoom) {
    place.style.zoom = place.dataset.zoom = zoom;
    stage.resize(); // it lays itself out in the next frame
    return requestAnimationFrame(() => again(place));
  }
  const foot = slides[at].querySelector(".source").getBoundingClientRect().top - 6;
  // The table of results grows while it plays: there must be room for all of it.
  const step = stage.step;
  if (stage.open("results") && !stage.predict.on) stage.go(stage.picture.steps.length - 1, false);
  for (let tries = 0; tries < 4; tries++) {
    const over = (place.getBoundingClientRect().bottom - foot) / zoom;
    const most = Math.max(LEAST_PLANE, stage.plane.height - over);
    if (Math.abs(over) < 2 || most === stage.host.get("highest")) break;
    stage.host.set("highest", most);
    stage.build();
  }
  if (stage.step !== step) stage.go(step, false);
}

/** Fit a stage in the next frame, if it is still shown. */
function again(place) {
  requestAnimationFrame(() => slides[at].contains(place) && fitStage(place));
}

const KEYS = {
  PageDown: on,
  PageUp: () => go(at - 1),
  ArrowRight: on,
  ArrowLeft: () => go(at - 1),
  Home: () => go(0),
  End: () => go(slides.length - 1),
  " ": on,
  f: () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()),
};

addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A stage has keys of its own; the two keys of a presenter leave it.
    const inside = event.target.closest?.("[data-wmviz-stage]");
    if (inside && !event.key.startsWith("Page")) return;
    if (event.key === " " && event.target.closest?.("button")) return;
    const letter = slides[at].querySelector(`.choices button[data-letter="${CSS.escape(event.key)}"]`);
    const act = letter ? () => pick(slides[at], letter) : KEYS[event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  },
  true,
);
for (const slide of slides) {
  slide.querySelectorAll(".choices button").forEach((button) => (button.onclick = () => pick(slide, button)));
  slide.querySelector(".reveal")?.addEventListener("click", on);
}
document.getElementById("back").onclick = () => go(at - 1);
document.getElementById("on").onclick = on;
addEventListener("resize", fit);
go(Number(location.hash.slice(1)) - 1 || 0);
