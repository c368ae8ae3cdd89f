// The lanes: one for each partition, its events in order of arrival on the same processing time as the plane below.

const LANE = 40;
const RAIL = 28; // of a lane, from its top

class Lanes {
  constructor(picture, plane) {
    this.plane = plane;
    this.width = plane.width;
    this.height = picture.lanes.length * LANE + 4;
    this.points = picture.events.map(([, , arrival, , , partition]) => [plane.x(arrival), this.middle(Math.min(partition, picture.lanes.length))]);
    this.marbles = new Marbles(picture, this.points, this, { scale: picture.events.length <= MOST_NAMED ? 0.9 : 0.55, coming: picture.events.length <= MOST_SVG });
    this.quiet = svg("g");
    this.words = svg("g", { class: "wmviz-labels" });
    const sheet = { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, "aria-hidden": "true" };
    this.svg = svg("svg", { ...sheet, class: "wmviz-plane-svg" }, this.rails(picture), this.quiet, this.marbles.layer);
    this.line = svg("line", { y1: 0, y2: this.height, class: "wmviz-now" });
    this.rings = new Rings(this.points);
    this.over = svg("svg", { ...sheet, class: "wmviz-plane-svg wmviz-over" }, this.words, this.rings.layer, this.line);
    const { canvas } = this.marbles;
    this.node = html("div", { class: "wmviz-sheet wmviz-lanes" }, ...(canvas ? [canvas.node] : []), this.svg, this.over);
    this.fill(picture);
  }

  middle(lane) {
    return lane * LANE + RAIL;
  }

  /** The lane at a height; the nearest one. */
  laneAt(y) {
    return Math.max(0, Math.min(this.picture.lanes.length - 1, Math.floor(y / LANE)));
  }

  /** Where a marble would be put from a point: when it arrives, and on which partition. */
  target(x, y) {
    return { arrival: this.plane.arrivalAt(x), partition: this.laneAt(y) };
  }

  rails(picture) {
    const { left, right } = this.plane.box;
    return svg("g", {}, ...picture.lanes.map((_, nth) => svg("path", { d: `M${left} ${this.middle(nth)}H${right}`, class: "wmviz-axis" })));
  }

  fill(picture) {
    this.picture = picture;
    this.clockwork = new Clockwork(picture);
    this.marbles.fill(picture);
    this.quiet.replaceChildren();
    this.words.replaceChildren();
    this.step = null;
    picture.lanes.forEach((lane, nth) => this.silences(lane, nth));
    this.spans = picture.lanes.flatMap((lane, nth) => this.quietSpans(lane, nth));
    this.paused = new Map(picture.pipeline.paused.map(([clock, ...changes]) => [clock, series(changes)]));
    this.heads = picture.lanes.map((lane, nth) => this.head(lane, nth));
  }

  /** The stretches in which a partition delivers nothing. */
  silences({ silent }, nth) {
    for (const [from, to] of silent) {
      const [x1, x2] = [this.plane.xInside(from), this.plane.xInside(to)];
      const rect = svg("rect", { x: x1, y: this.middle(nth) - 9, width: x2 - x1, height: 18, class: "wmviz-silent" });
      rect.append(svg("title", { text: "delivers nothing" }));
      this.quiet.append(rect);
      if (x2 - x1 > 40) this.quiet.append(svg("text", { x: x1 + 4, y: this.middle(nth) + 4, class: "wmviz-status-name", text: "silent" }));
    }
  }

  /** The lanes in words. */
  describe(box) {
    const lanes = this.heads.map(({ state }, nth) => `${this.picture.lanes[nth].name}: ${state.textContent}`);
    box.setAttribute("aria-label", `Lanes, the events of each partition in order of arrival. ${lanes.join("; ")}.`);
  }

  /** The stretches in which a lane does not count, or is not read. */
  quietSpans({ clock, reading }, nth) {
    const { steps, pipeline } = this.picture;
    const paused = pipeline.paused.find(([index]) => index === reading)?.slice(1) ?? [];
    return [...this.spansOf(this.clockwork.points(clock), nth), ...this.spansOf(paused.map(([step, value]) => ({ step, x: steps[step], status: value && PAUSED })), nth)];
  }

  spansOf(points, nth) {
    return points.flatMap((point, index) => {
      if (!point.status || points[index - 1]?.status === point.status) return [];
      const end = points.slice(index).find(({ status }) => status !== point.status);
      const rect = svg("rect", { x: this.plane.x(point.x), y: this.middle(nth) - 7, height: 14, width: 0, class: `wmviz-quiet wmviz-quiet-${point.status}` });
      this.quiet.append(rect);
      return [{ rect, step: point.step, from: this.plane.x(point.x), to: end ? this.plane.x(end.x) : Infinity }];
    });
  }

  head({ name, clock, reader, reading }, nth) {
    const y = nth * LANE + 13;
    const title = this.plane.wide && this.picture.pipeline.sources.length > 1 ? `${name} → ${reader}` : name;
    const state = svg("text", { x: this.plane.box.right, y, "text-anchor": "end", class: "wmviz-lane-state" });
    const sign = svg("path", { class: "wmviz-status-sign" });
    this.words.append(svg("text", { x: 4, y, class: "wmviz-lane-name", text: title }), sign, state);
    return { clock, reading, state, sign, y, room: (this.plane.box.right - title.length * 7 - 26) / 6.4 };
  }

  draw(fates, change, now) {
    const { step } = change;
    if (change.changed.size || change.before !== step) this.marbles.draw(fates, change);
    const x = this.plane.xInside(now);
    for (const name of ["x1", "x2"]) this.line.setAttribute(name, x);
    for (const { rect, step: begins, from, to } of this.spans) rect.setAttribute("width", begins > step ? 0 : Math.max(0, Math.min(to, x) - from));
    if (step === this.step) return;
    this.step = step;
    for (const { clock, reading, state, sign, y, room } of this.heads) {
      const now = this.clockwork.at(clock, step);
      const paused = this.paused.get(reading)?.(step)?.[0] === 1 ? "waits: alignment" : "";
      const words = [paused, inputWords(this.clockwork, clock, now)].filter(Boolean).join(", ");
      const short = this.plane.wide ? "watermark " : "";
      const none = this.picture.complete ? "no watermark yet" : "watermark not observed";
      const ways = [words, paused || (now.status ? this.picture.statuses[now.status] : ""), ""].map((said) => [now.text ? `${short}${now.text}` : none, said].filter(Boolean).join(" · ") + (now.holds ? " ◂" : ""));
      state.textContent = ways.find((way) => way.length <= room) ?? ways.at(-1);
      state.classList.toggle("wmviz-holds", now.holds);
      sign.setAttribute("d", STATUS_SIGNS[now.status]);
      sign.setAttribute("transform", `translate(${this.plane.box.right - state.textContent.length * 6.2 - 10} ${y - 4})`);
    }
  }
}

/** The rings around the marbles that are pointed at, chosen, or part of a chosen result. */
class Rings {
  constructor(points) {
    this.points = points;
    this.ring = svg("circle", { r: 11, class: "wmviz-ring" });
    this.hover = svg("circle", { r: 10, class: "wmviz-hover" });
    this.hand = svg("circle", { r: 7, class: "wmviz-ghost" });
    this.members = svg("g");
    this.question = svg("g", { class: "wmviz-wonder" });
    this.box = svg("rect", { class: "wmviz-ghost" });
    this.layer = svg("g", {}, this.box, this.members, this.ring, this.hover, this.hand, this.question);
    for (const node of [this.ring, this.hover, this.hand, this.box]) node.style.display = "none";
  }

  /** Where the hand holds a marble; null: nowhere. */
  ghost(x, y) {
    this.hand.style.display = x === null ? "none" : "";
    if (x === null) return;
    this.hand.setAttribute("cx", x);
    this.hand.setAttribute("cy", y);
  }

  /** The box that a hand draws; null: none. */
  frame(box) {
    this.box.style.display = box ? "" : "none";
    if (!box) return;
    for (const [name, value] of [["x", box.x], ["y", box.y], ["width", box.w], ["height", box.h]]) this.box.setAttribute(name, value);
  }

  put(node, index) {
    node.style.display = index < 0 || !this.points[index] ? "none" : "";
    if (index < 0 || !this.points[index]) return;
    const [x, y] = this.points[index];
    node.setAttribute("cx", x);
    node.setAttribute("cy", y);
  }

  select(index) {
    this.put(this.ring, index);
  }

  point(index) {
    this.put(this.hover, index);
  }

  /** A question mark where an event is to come; -1: nowhere. */
  wonder(index) {
    const [x, y] = this.points[index] ?? [];
    this.question.replaceChildren(...(index < 0 ? [] : [svg("circle", { r: 11, cx: x, cy: y }), svg("text", { x, y: y + 4.5, "text-anchor": "middle", text: "?" })]));
  }

  mark(indexes) {
    this.members.replaceChildren(...indexes.map((index) => svg("circle", { r: 9, cx: this.points[index][0], cy: this.points[index][1], class: "wmviz-member" })));
  }
}
