// What is not a marble, by keyboard: firings, watermarks, windows and barriers, one after the other, each with its sentence.

const WALKS = { f: "firings", m: "watermarks", w: "windows", k: "barriers" };

class Walk {
  constructor(stage) {
    this.stage = stage;
    this.kind = null;
  }

  /** What can be gone through at the playhead, the newest last: where it is, its row, and what is said of it. */
  stops(kind) {
    const { plane, picture, step, sentences } = this.stage;
    const said = (stop) => ({ ...stop, text: sentences?.texts[stop.row] ?? "" });
    if (kind === "firings") return plane.flagsUpTo(step).map(said);
    if (kind === "watermarks") return plane.lines.changesUpTo(step).map(said);
    if (kind === "barriers") return picture.barriers.map((row) => said({ row }));
    return plane.windowsAt(step).map((stop) => ({ ...stop, row: -1, text: windowWords(picture, stop.band, step) }));
  }

  go(kind, by) {
    const stops = this.stops(kind);
    if (!stops.length) return this.tell({ text: `No ${kind} ${kind === "barriers" ? "in this run" : "yet"}.` });
    if (kind === "barriers") return this.barrier(stops, by);
    const at = kind === this.kind ? this.at + by : stops.length - 1;
    [this.kind, this.at] = [kind, (at + stops.length) % stops.length];
    const stop = stops[this.at];
    this.tell(stop);
    this.stage.chooseFiring(kind === "firings" ? stop.row : -1);
  }

  /** Barriers are seen in the pipeline, while they are on their way: the playhead goes there. */
  barrier(stops, by) {
    const { stage } = this;
    const steps = stops.map(({ row }) => stage.why.stepOf(row));
    const next = by < 0 ? steps.findIndex((step) => step > stage.step) : steps.findLastIndex((step) => step < stage.step);
    if (next < 0) return this.tell({ text: by < 0 ? "No barrier or checkpoint comes after this." : "No barrier or checkpoint before this." });
    if (stage.stopped(steps[next])) return;
    stage.go(steps[next]);
    this.tell({ ...stops[next], at: [stage.plane.x(stage.picture.steps[steps[next]]), stage.plane.box.top + 30] });
  }

  tell({ text, at }) {
    const [x, y] = at ?? [this.stage.plane.box.left + 10, this.stage.plane.box.top + 30];
    this.stage.plane.pointAt(at ?? null);
    this.stage.bubble.replaceChildren(html("span", { text }));
    this.stage.bubbleAt(x, y, this.stage.planeBox, this.stage.plane);
  }

  /** Go to the moment of what is told of; false if that is nothing with a moment. */
  enter() {
    const stop = this.kind && this.stops(this.kind)[this.at];
    if (!stop || stop.row < 0) return false;
    this.stage.go(this.stage.why.stepOf(stop.row));
    return true;
  }

  end() {
    this.kind = null;
    this.stage.plane?.pointAt(null);
  }
}

/** What a window is at a step, key by key. */
function windowWords({ bands, results }, index, step) {
  const standing = (changes) => changes[lastUpTo(changes.map(([at]) => at), step)];
  const [, , state] = standing(bands[index].states) ?? [0, 0, "holds nothing yet"];
  const keys = results.flatMap(({ key, band, changes }) => {
    const now = band === index ? standing(changes) : null;
    if (!now) return [];
    return [`${key} ${[now[1] && `holds ${now[1]}`, now[2] && `has ${now[2]} in the sink`].filter(Boolean).join(" and ") || "holds nothing"}`];
  });
  return `${bands[index].label}: ${state}. ${keys.slice(0, 6).join("; ")}${keys.length > 6 ? `; and ${keys.length - 6} more keys` : ""}${keys.length ? "." : ""}`;
}
