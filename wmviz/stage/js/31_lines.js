// The watermarks on the plane: that of each window task as a strong staircase, that of each input as a quiet one.

const DASHES = [[7, 3], [3, 3], [11, 3, 2, 3], [5, 2, 2, 2, 2, 2], [9, 5], [2, 4], [14, 3], [6, 3, 1.5, 3]];
const SLEEPS = [1, 5]; // an input that does not count
const SWATCH = 30;

class Lines {
  constructor(plane) {
    this.plane = plane;
    this.layer = svg("g", { class: "wmviz-rises" });
    this.over = svg("g");
    this.legend = html("ul", { class: "wmviz-legend", "aria-label": "Watermarks" });
  }

  fill(picture, timeline, canvas) {
    this.clockwork = new Clockwork(picture);
    this.picture = picture;
    this.step = null;
    this.signed = new Set();
    this.layer.replaceChildren();
    const indexes = [...picture.watermarks.keys()];
    this.tasks = indexes.filter((index) => picture.watermarks[index].role === "window");
    this.inputs = indexes.filter((index) => picture.watermarks[index].line >= 0);
    // The tasks come last, so that they lie above their inputs.
    this.lines = [...this.inputs, ...this.tasks].map((index) => this.line(index));
    this.over.replaceChildren(...this.lines.flatMap(({ tip, dot, name, leader }) => [tip, leader, dot, name]));
    for (const line of this.lines) this.staircase(line, timeline, canvas);
    this.limit(timeline);
    this.writeLegend();
  }

  /** How far watermark alignment lets sources go. */
  limit(timeline) {
    const { allowed } = this.picture.pipeline;
    allowed.forEach(([step, time], nth) => {
      const y = this.plane.yInside(this.picture.times[time][0]);
      const x = this.plane.x(this.picture.steps[step]);
      const end = allowed[nth + 1] ? this.plane.x(this.picture.steps[allowed[nth + 1][0]]) : this.plane.box.right;
      const piece = svg("path", { d: `M${x} ${y}H${end}`, class: "wmviz-limit" });
      piece.append(svg("title", { text: `Sources may go up to ${this.picture.times[time][1]}` }));
      this.layer.append(piece);
      showFrom(timeline, step, [piece]);
    });
  }

  line(index) {
    const { line } = this.picture.watermarks[index];
    const dash = line < 0 ? [] : DASHES[line % DASHES.length];
    const kind = line < 0 ? "wmviz-watermark" : "wmviz-input";
    const tip = svg("path", { class: kind });
    const dot = svg("path", { class: `${kind}-dot` });
    const name = svg("text", { class: `${kind}-name` });
    const leader = svg("path", { class: "wmviz-leader" });
    const points = this.clockwork.points(index);
    return { index, dash, kind, tip, dot, name, leader, points, steps: points.map(({ step }) => step) };
  }

  x(point) {
    return this.plane.x(point.x);
  }

  y(point) {
    return this.plane.yInside(point.y);
  }

  staircase({ points, dash, kind }, timeline, canvas) {
    const draw = (step, d, dashes) => {
      if (canvas) return canvas.rise(step, d, `--${kind}`, kind === "wmviz-input" ? 1.25 : 2, dashes);
      const path = svg("path", { d, class: kind, "stroke-dasharray": dashes.join(" ") || null });
      this.layer.append(path);
      showFrom(timeline, step, [path]);
    };
    points.forEach((point, nth) => {
      const before = nth && points[nth - 1].y !== null ? points[nth - 1] : null;
      // A restored job begins without a watermark.
      if (point.y === null) return before && draw(point.step, `M${this.x(before)} ${this.y(before)}H${this.x(point)}`, before.status ? SLEEPS : dash);
      const rise = `V${this.y(point)}`;
      if (!before) draw(point.step, `M${this.x(point)} ${this.plane.box.bottom}${rise}`, dash);
      else if (before.status) {
        draw(point.step, `M${this.x(before)} ${this.y(before)}H${this.x(point)}`, SLEEPS);
        if (point.y !== before.y) draw(point.step, `M${this.x(point)} ${this.y(before)}${rise}`, dash);
      } else draw(point.step, `M${this.x(before)} ${this.y(before)}H${this.x(point)}${rise}`, dash);
      if (kind === "wmviz-input" && !canvas && point.status && point.status !== before?.status) this.sign(point, timeline);
    });
  }

  /** Where an input stops to count: a sign, and the word. */
  sign(point, timeline) {
    const [x, y] = [this.x(point), this.y(point)];
    const words = this.picture.statuses[point.status];
    const mark = svg("path", { d: STATUS_SIGNS[point.status], transform: `translate(${x} ${y})`, class: "wmviz-status-sign" });
    this.layer.append(mark);
    const same = `${words} ${Math.round(x / 12)} ${Math.round(y / 12)}`;
    const place = this.signed.has(same) ? null : this.plane.labels.around(x, y, words);
    this.signed.add(same);
    const label = place && labelAt(place, { class: "wmviz-status-name", text: words });
    if (label) this.plane.labelLayer.append(label);
    showFrom(timeline, point.step, [mark, label]);
  }

  // ------------------------------------------------------------------------------ tips

  /** What a line shows now, and where its tip is; names keep off the clock, whose box is given. */
  draw(step, now, clock) {
    if (step !== this.step) {
      this.step = step;
      this.states = this.lines.map(({ index }) => this.clockwork.at(index, step));
      this.drawLegend();
    }
    const x = this.plane.xInside(now);
    this.taken = [clock];
    const few = new Set(this.mainStates().map(({ text }) => text)).size <= 1;
    let named = false;
    for (let nth = this.lines.length - 1; nth >= 0; nth--) {
      const [line, state] = [this.lines[nth], this.states[nth]];
      const main = line.kind === "wmviz-watermark";
      const last = line.points[lastUpTo(line.steps, step)];
      for (const node of [line.tip, line.dot, line.name, line.leader]) node.style.display = state.y === null ? "none" : "";
      if (state.y === null) continue;
      const y = this.y(state);
      const from = Math.min(this.x(last), x);
      line.tip.setAttribute("d", `M${from} ${y}H${x}`);
      line.tip.setAttribute("stroke-dasharray", (state.status ? SLEEPS : line.dash).join(" "));
      line.dot.setAttribute("d", state.holds ? "M0 -5L5 0L0 5L-5 0Z" : state.status ? STATUS_SIGNS[state.status] : "M0 0");
      line.dot.setAttribute("transform", `translate(${x} ${y})`);
      if (main) {
        const narrow = this.plane.width < 420;
        const prefix = narrow ? "" : few ? "watermark " : `${this.clockwork.clocks[line.index].name} `;
        this.name(line, `${prefix}${narrow ? this.short(state.text) : state.text}${this.beyond(state)}`, x, y, !(few && named));
        named = true;
      } else this.name(line, `${this.clockwork.inputName(line.index)}${state.holds ? " ◂" : ""}`, x, y, this.plane.width >= 420);
    }
    this.nameNone();
  }

  /** A time for a narrow plane: without the day if that is the only one of the axis, else without its year. */
  short(text) {
    const [date, clock] = text.split(" ");
    const { title } = this.picture.y;
    if (!clock || clock === "ms" || !title.includes(date.slice(0, 4))) return text;
    return title.includes(date) && !title.includes(" to ") ? clock : `${date.slice(5)} ${clock}`;
  }

  /** An arrow where a watermark is beyond the axis. */
  beyond({ y, text }) {
    if (y < this.picture.y.from) return " ↓";
    return y > this.picture.y.to && text !== "MAX" ? " ↑" : "";
  }

  /** The row that tells of the piece of a line at a point; -1 if no line is near. */
  rowAt(x, y, now, reach = 6) {
    for (const line of [...this.lines].reverse()) {
      for (let nth = lastUpTo(line.steps, this.step ?? -1); nth >= 0; nth--) {
        const point = line.points[nth];
        if (point.y === null) continue;
        const [from, to] = [this.x(point), nth + 1 < line.points.length && line.points[nth + 1].step <= this.step ? this.x(line.points[nth + 1]) : this.plane.xInside(now)];
        if (x >= from - reach && x <= to + reach && Math.abs(y - this.y(point)) <= reach) return point.row;
        if (to < x - reach) break;
      }
    }
    return -1;
  }

  /** The changes of all lines that stand at a step, the newest last. */
  changesUpTo(step) {
    const standing = this.lines.flatMap(({ points }) => points.filter((point) => point.step <= step && point.row >= 0 && point.y !== null));
    return standing.sort((a, b) => a.step - b.step).map((point) => ({ row: point.row, at: [this.x(point), this.y(point)] }));
  }

  mainStates() {
    return this.states.filter((_, nth) => this.lines[nth].kind === "wmviz-watermark");
  }

  get main() {
    return this.states?.at(-1) ?? null;
  }

  /** Where no task has a watermark and none is to come, that is said. */
  nameNone() {
    const { name } = this.lines.at(-1);
    if (this.lines.at(-1).points.length || !this.picture.steps.length) return;
    const { right, bottom } = this.plane.box;
    name.style.display = "";
    place(name, "no watermark", { x: right - 4, y: bottom - 7, anchor: "end" });
  }

  /** Name a line at its tip, where no other name is and least is covered; a leader shows whose name it is. */
  name(line, text, x, y, wanted) {
    line.leader.setAttribute("d", "");
    const free = wanted ? this.places(text, x, y).filter(({ box }) => !this.taken.some((other) => overlap(other, box))) : [];
    if (!free.length) return place(line.name, "", { x, y, anchor: "start" });
    const covered = free.map(({ box }) => this.plane.labels.covered(box));
    // It stays where it was while that is free, so that it does not jump from frame to frame.
    const kept = free.findIndex((one, nth) => one.nth === line.kept && !covered[nth]);
    const least = Math.min(...covered);
    // The name of an input stays away where there is no room: the legend has it too.
    if (least && line.kind === "wmviz-input") return place(line.name, "", { x, y, anchor: "start" });
    const found = free[kept >= 0 ? kept : covered.indexOf(least)];
    line.kept = found.nth;
    this.taken.push(found.box);
    place(line.name, text, found);
    if (found.far) line.leader.setAttribute("d", `M${x} ${y}L${found.x + (found.anchor === "start" ? -2 : 2)} ${found.y - 4}`);
  }

  /** Where a line can be named: behind its tip if there is room, else before it, a little or further above or below. */
  places(text, x, y) {
    const width = text.length * 6.9;
    const { right, top, bottom } = this.plane.box;
    const edge = this.plane.wide && this.picture.band_axis !== "y" ? this.plane.width : right;
    const behind = x + width + 8 < edge;
    const left = Math.max(0, behind ? x + 8 : x - 8 - width);
    const shifts = behind ? [4, 18, -10, 32, -24, 46, -38, 60, -52] : [16, -6, 30, -20, 44, -34, 58, -48];
    const inside = shifts.filter((shift) => y + shift > top + 8 && y + shift <= bottom - 4);
    return (inside.length ? inside : [Math.min(shifts[0], bottom - 4 - y)]).map((shift) => ({
      ...{ nth: `${behind} ${shift}`, far: Math.abs(shift - 4) > 20, y: y + shift },
      ...{ x: behind ? left : left + width, anchor: behind ? "start" : "end", box: { x: left, y: y + shift - 12, w: width, h: 15 } },
    }));
  }

  /** The box that the name of the watermark will have at the end, for labels to keep off. */
  reserved() {
    const last = this.lines.at(-1)?.points.at(-1);
    if (!last || last.y === null) return null;
    return this.places(`watermark ${last.text}`, this.plane.x(this.picture.steps.at(-1)), this.y(last))[0].box;
  }

  // ---------------------------------------------------------------------------- legend

  writeLegend() {
    this.entries = [];
    this.legend.hidden = !this.inputs.length && this.tasks.length < 2 && !this.picture.pipeline.allowed.length;
    if (this.legend.hidden) return;
    for (const index of this.tasks) this.entry(index);
    for (const index of this.inputs) this.entry(index);
    if (this.picture.pipeline.allowed.length) this.entries.push(this.limitEntry());
    const more = this.picture.inputs_left_out;
    const note = more ? [html("li", { class: "wmviz-more", text: `${more} more inputs have no line here` })] : [];
    this.legend.replaceChildren(...this.entries.map(({ item }) => item), ...note);
  }

  entry(index) {
    const { dash, kind } = this.lines.find((line) => line.index === index);
    const swatch = svg("svg", { viewBox: `0 0 ${SWATCH} 10`, class: "wmviz-swatch", "aria-hidden": "true" }, svg("path", { d: `M0 5H${SWATCH}`, class: kind, "stroke-dasharray": dash.join(" ") }));
    const sign = svg("path", { class: "wmviz-input-dot", transform: `translate(${SWATCH / 2} 5)` });
    swatch.append(sign);
    const [value, words] = [html("strong"), html("em")];
    const item = html("li", { class: kind === "wmviz-input" ? "" : "wmviz-legend-task" }, swatch, html("span", { text: this.clockwork.inputName(index) }), value, words);
    this.entries.push({ index, item, sign, value, words });
  }

  limitEntry() {
    const at = series(this.picture.pipeline.allowed);
    const swatch = svg("svg", { viewBox: `0 0 ${SWATCH} 10`, class: "wmviz-swatch", "aria-hidden": "true" }, svg("path", { d: `M0 5H${SWATCH}`, class: "wmviz-limit" }));
    const value = html("strong");
    const item = html("li", {}, swatch, html("span", { text: "sources may go up to" }), value);
    const show = (step) => {
      value.textContent = this.picture.times[at(step)?.[0]]?.[1] ?? "any watermark";
    };
    return { item, show };
  }

  drawLegend() {
    for (const { index, item, sign, value, words, show } of this.entries) {
      if (show) {
        show(this.step);
        continue;
      }
      const state = this.clockwork.at(index, this.step);
      value.textContent = state.text || "no watermark yet";
      sign.setAttribute("d", state.holds ? "M0 -5L5 0L0 5L-5 0Z" : STATUS_SIGNS[state.status]);
      const held = this.clockwork.clocks[index].role === "window" ? this.clockwork.heldBy(index, this.step) : "";
      words.textContent = held ? `held back by ${held}` : inputWords(this.clockwork, index, state);
      item.classList.toggle("wmviz-holds", state.holds);
    }
  }
}

function place(node, text, { x, y, anchor }) {
  node.textContent = text;
  node.setAttribute("x", x);
  node.setAttribute("y", y);
  node.setAttribute("text-anchor", anchor);
}

/** Show nodes from a step on. */
function showFrom(timeline, step, nodes) {
  const present = nodes.filter(Boolean);
  for (const node of present) node.style.display = "none";
  timeline.add([step], (stands) => {
    for (const node of present) node.style.display = stands < 0 ? "none" : "";
  });
}
