// The plane: processing time across, event time up.

const STATES = ["none", "filling", "fired", "closed", "none"];
const HEAD_Y = 40; // where the line of now begins
const NAME_HEIGHT = 30; // of a band, for its name beside it
const MOST_RAILS = 6;
const MERGED = 4; // part of another session, which is drawn in its place

class Plane {
  constructor(picture, width, highest) {
    this.picture = picture;
    this.highest = highest;
    this.wide = width >= 500;
    this.few = picture.events.length <= MOST_NAMED;
    this.width = width;
    this.height = Math.round(Math.min(highest, Math.max(330, width * 0.66)));
    const left = Math.max(this.wide ? 62 : 46, this.longest(picture.y.ticks) * 6.3 + 12);
    const top = HEAD_Y + (picture.band_axis === "x" ? this.rails() * this.railWidth() : 0);
    this.box = { left, top, right: width, bottom: this.height - 42 };
    this.box.right -= this.gutter();
    this.points = picture.events.map(([, , arrival, time]) => [this.x(arrival), this.yInside(time)]);
    this.marbles = new Marbles(picture, this.points, this, { scale: this.few ? 1 : 0.65 });
    this.lines = new Lines(this);
    this.frame();
    this.fill(picture);
  }

  /** Whether another picture has the same frame and the same events, so that only what they do must be drawn again. */
  fits(picture, width, highest) {
    const framed = ({ x, y, overlap, band_axis, bands }) => JSON.stringify([x, y, overlap, band_axis, bands.map(({ label }) => label)]);
    return width === this.width && highest === this.highest && picture.events === this.picture.events && framed(picture) === framed(this.picture);
  }

  /** Draw the marks of a picture into the frame; the marbles stay where they are. */
  fill(picture) {
    this.picture = picture;
    this.timeline = new Timeline();
    this.growing = new Set();
    this.flags = new Map();
    const { left, top, right, bottom } = this.box;
    this.namedBands = [];
    this.railBoxes = [];
    this.labels = new Labels(left + 2, top - 3, this.wide && picture.overlap === 1 ? this.width : right, bottom);
    for (const layer of [this.bandLayer, this.fireLayer, this.labelLayer, this.diagonalLayer]) layer.replaceChildren();
    this.marbles.fill(picture);
    this.diagonalLayer.append(this.diagonal());
    if (this.few) this.points.forEach(([x, y], index) => this.labels.take({ x: x - 6, y: y - 6, w: 12, h: 12 }, () => this.marbles.looks?.[index] >= 0));
    this.lines.fill(picture, this.timeline, this.marbles.canvas);
    this.reserve();
    this.bands();
    this.downs();
    this.rewound();
    this.nameMarbles();
  }

  /** Room at the right for the rails, or for the names of the bands that are high enough for one. */
  gutter() {
    const named = this.picture.bands.filter((band) => this.yInside(band.from) - this.yInside(band.to) >= NAME_HEIGHT);
    if (this.picture.band_axis !== "y") return 18;
    if (!this.wide) return 14 + this.rails() * this.railWidth();
    if (!this.rails() && !named.length) return 18;
    const lines = this.picture.bands.flatMap(({ label }) => lineUp(label));
    return Math.min(170, Math.max(126, 16 + 7 * Math.max(0, ...lines.map((line) => line.length))));
  }

  rails() {
    return this.picture.overlap > 1 ? Math.min(this.picture.overlap, MOST_RAILS) : 0;
  }

  /** How wide a rail is, with the space beside it. */
  railWidth() {
    if (!this.wide) return 9;
    return this.picture.band_axis === "x" ? 16 : 66 / this.rails();
  }

  x(time) {
    const { from, to } = this.picture.x;
    return this.box.left + ((time - from) / (to - from)) * (this.box.right - this.box.left);
  }

  y(time) {
    const { from, to } = this.picture.y;
    return this.box.bottom - ((time - from) / (to - from)) * (this.box.bottom - this.box.top);
  }

  /** The arrival time at a point, on the grid that Python gives. */
  arrivalAt(x) {
    const { from, to } = this.picture.x;
    return this.snapped(from + ((x - this.box.left) / (this.box.right - this.box.left)) * (to - from), from, to, this.picture.snap[0]);
  }

  eventTimeAt(y) {
    const { from, to } = this.picture.y;
    return this.snapped(from + ((this.box.bottom - y) / (this.box.bottom - this.box.top)) * (to - from), from, to, this.picture.snap[1]);
  }

  snapped(time, from, to, snap) {
    const { origin } = this.picture;
    const put = (at, round) => round((origin + at) / snap) * snap - origin;
    return Math.min(put(to, Math.floor), Math.max(put(from, Math.ceil), put(time, Math.round)));
  }

  /** Where a marble would be put from a point: when it arrives, and when it happened. */
  target(x, y) {
    return { arrival: this.arrivalAt(x), time: this.eventTimeAt(y) };
  }

  /** The row that tells of the flag or line at a point; -1 if there is none. */
  rowAt(x, y) {
    for (const band of this.picture.bands) {
      const { x2, y1 } = this.extent(band);
      const fire = band.fires.findLast(([step]) => step <= this.timeline.step && Math.hypot((this.picture.band_axis === "x" ? x2 : this.x(this.picture.steps[step])) - x, y1 - y) < 8);
      if (fire) return fire[3];
    }
    return this.lines.rowAt(x, y, this.now);
  }

  /** Like y, but what is outside stays on the edge. */
  yInside(time) {
    return Math.min(this.box.bottom, Math.max(this.box.top, this.y(time)));
  }

  xInside(time) {
    return Math.min(this.box.right, Math.max(this.box.left, this.x(time)));
  }

  frame() {
    this.diagonalLayer = svg("g");
    this.bandLayer = svg("g");
    this.fireLayer = svg("g");
    this.labelLayer = svg("g", { class: "wmviz-labels" });
    this.svg = svg(
      "svg",
      { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height, class: "wmviz-plane-svg", "aria-hidden": "true" },
      this.bandLayer,
      this.axes(),
      this.diagonalLayer,
      this.fireLayer,
      this.beyond(),
      ...(this.few ? [this.lines.layer, this.marbles.layer] : [this.marbles.layer, this.lines.layer]),
      this.labelLayer,
    );
    // What moves in every frame lies on a sheet of its own, so that the marbles below are not painted again.
    const sheet = { viewBox: `0 0 ${this.width} ${this.height}`, width: this.width, height: this.height };
    this.over = svg("svg", { ...sheet, class: "wmviz-plane-svg wmviz-over wmviz-labels", "aria-hidden": "true" }, this.lines.over, this.nowLine(), this.selection());
    this.node = html("div", { class: "wmviz-sheet wmviz-plane" }, ...(this.marbles.canvas ? [this.marbles.canvas.node] : []), this.svg, this.over);
  }

  // ------------------------------------------------------------- what never changes

  axes() {
    const { left, top, right, bottom } = this.box;
    const group = svg("g", { class: "wmviz-axes" });
    group.append(svg("path", { d: `M${left} ${top}V${bottom}H${right}`, class: "wmviz-axis" }));
    const place = (ticks, room, at) => {
      const step = Math.max(1, Math.ceil((ticks.length * room) / (at(1) - at(0))));
      return ticks.filter((_, index) => index % step === 0);
    };
    const wide = (time) => this.x(this.picture.x.from + time * (this.picture.x.to - this.picture.x.from));
    for (const [time, text] of place(this.picture.x.ticks, this.longest(this.picture.x.ticks) * 6.6 + 16, wide)) {
      const x = this.x(time);
      group.append(svg("path", { d: `M${x} ${bottom}v5`, class: "wmviz-axis" }));
      group.append(svg("text", { x: Math.min(x, this.width - text.length * 3.3), y: bottom + 17, "text-anchor": "middle", text }));
    }
    const high = (time) => -this.y(this.picture.y.from + time * (this.picture.y.to - this.picture.y.from));
    for (const [time, text] of place(this.picture.y.ticks, 26, high)) {
      const y = this.y(time);
      group.append(svg("path", { d: `M${left - 5} ${y}h5`, class: "wmviz-axis" }));
      group.append(svg("text", { x: left - 8, y: y + 4, "text-anchor": "end", text }));
    }
    const [xTitle, yTitle] = [this.picture.x.title, this.picture.y.title].map((title) => this.fitting(title));
    group.append(svg("text", { x: right, y: this.height - 5, "text-anchor": "end", class: "wmviz-title", text: `${xTitle} →` }));
    group.append(svg("text", { x: 4, y: 13, class: "wmviz-title", text: `↑ ${yTitle}` }));
    return group;
  }

  /** Arrows at events that are too far off for the axis: they stand at its edge. */
  beyond() {
    this.arrows = this.picture.events.flatMap(([, , , time], index) => {
      const side = time > this.picture.y.to ? -1 : time < this.picture.y.from ? 1 : 0;
      if (!side) return [];
      const [x, y] = this.points[index];
      return [{ index, node: svg("path", { d: `M${x - 4} ${y + 9 * side}l4 ${5 * side}l4 ${-5 * side}`, class: "wmviz-beyond" }) }];
    });
    return svg("g", {}, ...this.arrows.map(({ node }) => node));
  }

  /** A title as long as there is room for: without what the time means, then without the day. */
  fitting(title) {
    const ways = [title, title.replace(/: [^(]*/, " "), title.replace(/:.*/, "")];
    return ways.find((way) => (way.length + 2) * 6.2 < this.box.right) ?? ways.at(-1);
  }

  longest(ticks) {
    return Math.max(1, ...ticks.map(([, text]) => text.length));
  }

  /** The line on which things happen at the moment they arrive. */
  diagonal() {
    const from = Math.max(this.picture.x.from, this.picture.y.from);
    const to = Math.min(this.picture.x.to, this.picture.y.to);
    const group = svg("g", { class: "wmviz-diagonal" });
    if (from >= to) return group;
    const [x1, y1, x2, y2] = [this.x(from), this.y(from), this.x(to), this.y(to)];
    group.append(svg("line", { x1, y1, x2, y2 }));
    const text = "event time = now";
    const length = Math.hypot(x2 - x1, y2 - y1);
    if (length < 420) return group;
    const at = (distance) => [x1 + ((x2 - x1) * distance) / length, y1 + ((y2 - y1) * distance) / length];
    const begin = length * 0.16;
    const [x, y] = at(begin);
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    group.append(svg("text", { x, y: y - 7, transform: `rotate(${angle} ${x} ${y})`, text }));
    for (let along = 0; along < text.length * 6; along += 12) {
      const [px, py] = at(begin + along);
      this.labels.take({ x: px - 12, y: py - 16, w: 14, h: 12 });
    }
    return group;
  }

  // ------------------------------------------------------------------------- bands

  bands() {
    this.picture.bands.forEach((band, index) => {
      if (this.picture.overlap > 1) this.rail(band, index);
      else this.band(band);
    });
    for (const band of this.picture.bands) this.fires(band);
    this.nameRails();
  }

  /** Where a band lies: by event time across the plane, by processing time up it, or everywhere. */
  extent(band) {
    const { left, top, right, bottom } = this.box;
    const across = this.picture.band_axis === "x";
    return {
      x1: across ? this.xInside(band.from) : left,
      x2: across ? this.xInside(band.to) : right,
      y1: this.picture.band_axis === "y" ? this.yInside(band.to) : top,
      y2: this.picture.band_axis === "y" ? this.yInside(band.from) : bottom,
    };
  }

  band(band) {
    const { x1, x2, y1, y2 } = this.extent(band);
    if (x2 - x1 < 0.5 || y2 - y1 < 0.5) return;
    const steps = band.states.map(([step]) => step);
    band.states.forEach(([step, state], nth) => {
      const next = band.states[nth + 1];
      const begin = this.picture.band_axis === "x" ? x1 : Math.max(x1, this.x(this.picture.steps[step]));
      const rect = svg("rect", { x: begin, y: y1, width: 0, height: y2 - y1, class: `wmviz-band wmviz-${STATES[state]}` });
      this.bandLayer.append(rect);
      const segment = { rect, begin, end: x2 };
      // On processing time a band has one colour, that of its state now.
      const leaves = this.picture.band_axis === "x" && next ? [step, next[0]] : next ? [step, next[0]] : [step];
      this.timeline.add(leaves, (stands) => {
        this.growing.delete(segment);
        if (stands === 0) this.growing.add(segment);
        else if (stands === 1 && this.picture.band_axis !== "x") {
          rect.setAttribute("width", Math.max(0, Math.min(x2, this.x(this.picture.steps[next[0]])) - begin));
        } else rect.setAttribute("width", 0);
      });
    });
    this.bandEdges(band, x1, x2, y1, y2);
    this.bandLabel(band, steps, { x1, x2, y1, y2 });
  }

  /** The stretches of processing time in which the job is down. */
  downs() {
    const { job } = this.picture.pipeline;
    const { left, top, right, bottom } = this.box;
    job.forEach(([step, down], nth) => {
      if (!down) return;
      const begin = Math.max(left, this.x(this.picture.steps[step]));
      const end = job[nth + 1] ? this.x(this.picture.steps[job[nth + 1][0]]) : right;
      const rect = svg("rect", { x: begin, y: top, width: 0, height: bottom - top, class: "wmviz-downtime" });
      const edge = svg("path", { d: `M${begin} ${top}V${bottom}`, class: "wmviz-crash" });
      const name = svg("text", { x: begin + 4, y: bottom - 6, class: "wmviz-crash-name", text: "✕ down" });
      this.bandLayer.append(rect, edge);
      this.labelLayer.append(name);
      this.labels.take({ x: begin, y: bottom - 18, w: 50, h: 16 }, () => name.style.display !== "none");
      showFrom(this.timeline, step, [edge, name]);
      const segment = { rect, begin, end };
      this.timeline.add(job[nth + 1] ? [step, job[nth + 1][0]] : [step], (stands) => {
        this.growing.delete(segment);
        if (stands === 0) this.growing.add(segment);
        rect.setAttribute("width", stands === 1 ? end - begin : 0);
      });
    });
  }

  /** Events that a restored job reads again have a mark around them. */
  rewound() {
    for (const [index, step] of Object.entries(this.picture.rewound)) {
      const [x, y] = this.points[index];
      const mark = svg("path", { d: `M${x - 8} ${y + 3}A8.5 8.5 0 1 1 ${x} ${y + 8.5}M${x - 4} ${y + 5.5}l4 3l-4 3`, class: "wmviz-rewound" });
      this.fireLayer.append(mark);
      showFrom(this.timeline, step, [mark]);
    }
  }

  bandEdges({ states }, x1, x2, y1, y2) {
    const { left, top, right, bottom } = this.box;
    const edge = (d) => {
      const line = svg("path", { d, class: "wmviz-edge" });
      this.bandLayer.append(line);
      if (!this.picture.merges) return;
      this.timeline.add(states.map(([step]) => step), (stands) => {
        line.style.display = lives(states, stands) ? "" : "none";
      });
    };
    if (this.picture.band_axis === "y") {
      for (const y of [y1, y2]) if (y > top && y < bottom) edge(`M${left} ${y}H${right}`);
    } else if (this.picture.band_axis === "x") {
      for (const x of [x1, x2]) if (x > left && x < right) edge(`M${x} ${top}V${bottom}`);
    }
  }

  bandLabel(band, steps, { x1, x2, y1, y2 }) {
    if (this.picture.merges && !this.wide) return; // many lie over each other; the table has their names
    const aside = this.picture.band_axis === "y" && this.wide;
    const room = this.picture.band_axis === "x" ? x2 - x1 : y2 - y1;
    if (room < (this.picture.band_axis === "x" ? band.label.length * 6.3 : aside ? NAME_HEIGHT : 32)) return;
    const [x, y] = aside ? [x2 + 8, (y1 + y2) / 2 - 2] : this.emptiest(band.label, { x1, x2, y1, y2 });
    const lines = aside ? lineUp(band.label) : [band.label];
    const w = Math.max(112, ...lines.map((line) => line.length * 6.9));
    const top = this.freeForName({ x, w, h: 14 * lines.length + 14 }, y - 7 * (lines.length - 1), this.picture.merges ? band.states : []);
    if (top === null) return;
    const name = svg("text", { x, y: top, class: "wmviz-band-name" });
    lines.forEach((line, nth) => name.append(svg("tspan", { x, dy: nth && 14, text: line })));
    const state = svg("text", { x, y: top + 14 * lines.length, class: "wmviz-band-state" });
    this.labelLayer.append(name, state);
    this.labels.take({ x: x - 2, y: top - 11, w, h: 14 * lines.length + 14 });
    // A session is not known before its first event, nor named when it is part of another one.
    name.style.display = this.picture.merges ? "none" : "";
    this.timeline.add(steps, (stands) => {
      const named = !this.picture.merges || lives(band.states, stands);
      name.style.display = named ? "" : "none";
      state.textContent = named && stands >= 0 ? band.states[stands][2] : "";
      state.setAttribute("class", `wmviz-band-state wmviz-state-${stands < 0 ? "none" : STATES[band.states[stands][1]]}`);
    });
  }

  /** Where in a band its name covers the fewest marbles: at the upper left unless another corner is emptier. */
  emptiest(label, { x1, x2, y1, y2 }) {
    const w = label.length * 6.8;
    const places = [x1 + 5, (x1 + x2 - w) / 2, x2 - w - 5].flatMap((x) => [[x, y1 + 13], [x, y2 - 20]]);
    if (!this.few || this.picture.band_axis !== "y") return places[0];
    const covers = ([x, y]) => this.points.filter(([px, py]) => px > x - 8 && px < x + w + 6 && py > y - 17 && py < y + 24).length;
    return places.reduce((best, place) => (covers(place) < covers(best) ? place : best));
  }

  /** Sessions lie over each other in part: give the height nearest to the wanted one that no other name has then. */
  freeForName({ x, w, h }, wanted, states) {
    const from = states[0]?.[0] ?? -Infinity;
    const [last, state] = states.at(-1) ?? [];
    const to = state === MERGED ? last : Infinity;
    for (const shift of [0, 30, -30, 60, -60]) {
      const box = { x: x - 2, y: wanted + shift - 11, w, h, from, to };
      if (shift && (box.y < this.box.top - 6 || box.y + h > this.box.bottom + 12)) continue;
      if (this.namedBands.some((other) => from < other.to && other.from < to && overlap(box, other))) continue;
      this.namedBands.push(box);
      return wanted + shift;
    }
    return null;
  }

  /** Windows that lie over each other stand side by side, each as a rail: at the right, or by processing time on top. */
  rail(band, index) {
    const every = this.every();
    if (index % every) return;
    const across = this.picture.band_axis === "x";
    const wide = this.railWidth();
    const at = (across ? HEAD_Y + 3 : this.box.right + 6) + ((index / every) % this.rails()) * wide;
    const [from, to] = across ? [this.xInside(band.from), this.xInside(band.to)] : [this.yInside(band.to), this.yInside(band.from)];
    if (to - from < 0.5) return;
    const [thick, long] = [Math.max(3, wide - 4), Math.max(1, to - from - 2)];
    const box = across ? { x: from + 1, y: at, w: long, h: thick } : { x: at, y: from + 1, w: thick, h: long };
    const rect = svg("rect", { x: box.x, y: box.y, width: box.w, height: box.h, rx: 3 });
    rect.append(svg("title", { text: band.label }));
    const edge = svg("path", { d: across ? `M${to} ${at}V${this.box.bottom}` : `M${this.box.left} ${from}H${at}`, class: "wmviz-edge" });
    this.bandLayer.append(edge, rect);
    this.railBoxes.push({ ...box, index });
    if (this.wide && wide > 15 && long > band.label.length * 5.8 + 8) {
      const [cx, cy] = across ? [from + 6, at + thick - 2] : [at + thick / 2 + 4, to - 6];
      this.labelLayer.append(svg("text", { x: cx, y: cy, transform: across ? null : `rotate(-90 ${cx} ${cy})`, class: "wmviz-rail-name", text: band.label }));
    }
    this.timeline.add(band.states.map(([step]) => step), (stands) => {
      rect.setAttribute("class", `wmviz-rail wmviz-${stands < 0 ? "none" : STATES[band.states[stands][1]]}`);
    });
    rect.setAttribute("class", "wmviz-rail wmviz-none");
  }

  /** Of more windows than there are rails every so manieth has one. */
  every() {
    return Math.ceil(this.picture.overlap / MOST_RAILS);
  }

  /** Say which windows have a rail, if not all of them have one. */
  nameRails() {
    const every = this.every();
    if (every === 1) return;
    const place = this.picture.band_axis === "x" ? { x: this.width - 2, y: HEAD_Y - 22 } : { x: this.width - 2, y: this.box.bottom + 17 };
    this.labelLayer.append(svg("text", { ...place, "text-anchor": "end", class: "wmviz-rail-name", text: `1 ${this.wide ? "window " : ""}in ${every}` }));
  }

  fires(band) {
    const { x2, y1, y2 } = this.extent(band);
    const sliding = this.picture.overlap > 1;
    for (const [step, late, words, row] of band.fires) {
      const x = this.picture.band_axis === "x" ? x2 : this.x(this.picture.steps[step]);
      const text = this.wide ? words : words.split(",")[0];
      const visible = this.picture.band_axis === "all" || (this.picture.band_axis === "y" && y1 > this.box.top);
      const stem = sliding ? `M${x} ${y1}v10` : late ? `M${x} ${y1 + 1}v9` : `M${x} ${y1}V${y2}`;
      const mark = svg(
        "g",
        { class: `wmviz-fire${late ? " wmviz-again" : ""}` },
        svg("path", { d: stem }),
        svg("path", { d: `M${x - 5} ${y1 - 4}H${x + 5}L${x} ${y1 + 4}Z`, class: "wmviz-flag" }),
        svg("title", { text: `${band.label} ${words}` }),
      );
      this.fireLayer.append(mark);
      this.flags.set(row, { mark, at: [x, y1], step });
      let label = null;
      if (visible && this.picture.bands.length < 40 && (this.few || !late)) {
        const place = this.labels.around(x, y1, text, true);
        if (place) {
          label = labelAt(place, { class: `wmviz-fire-name${late ? " wmviz-again" : ""}`, text });
          this.labelLayer.append(label);
        }
      }
      showFrom(this.timeline, step, [mark, label]);
    }
  }

  /** The flags that stand at a step, the newest last. */
  flagsUpTo(step) {
    const standing = [...this.flags].flatMap(([row, flag]) => (flag.step <= step ? [{ row, at: flag.at, step: flag.step }] : []));
    return standing.sort((a, b) => a.step - b.step);
  }

  /** The windows that have or had state at a step. */
  windowsAt(step) {
    return this.picture.bands.flatMap((band, index) => {
      const { x2, y1, y2 } = this.extent(band);
      return band.states[0]?.[0] <= step ? [{ band: index, at: [this.picture.band_axis === "y" ? this.box.right - 8 : x2 - 8, (y1 + y2) / 2] }] : [];
    });
  }

  /** The window whose name beside the plane is at a point; -1 if there is none. */
  windowNamedAt(x, y) {
    const { step } = this.timeline;
    const { bands } = this.picture;
    const rail = this.railBoxes.find((box) => overlap(box, { x, y, w: 1, h: 1 }));
    if (rail) return bands[rail.index].states[0]?.[0] <= step ? rail.index : -1;
    if (this.railBoxes.length || this.picture.band_axis !== "y" || x <= this.box.right) return -1;
    return bands.findIndex((band) => {
      const { y1, y2 } = this.extent(band);
      return y >= y1 && y <= y2 && lives(band.states, band.states.findLastIndex(([from]) => from <= step));
    });
  }

  /** Put the ring of the keyboard on a point; null: nowhere. */
  pointAt(at) {
    this.cursor.style.display = at ? "" : "none";
    if (!at) return;
    this.cursor.setAttribute("cx", at[0]);
    this.cursor.setAttribute("cy", at[1]);
  }

  /** Mark the flags that another run does not have in the same form. */
  markFires(rows) {
    for (const { mark } of this.flags.values()) {
      mark.classList.remove("wmviz-differs");
      mark.querySelector(".wmviz-member")?.remove();
    }
    for (const row of rows) {
      const flag = this.flags.get(row);
      if (!flag) continue;
      flag.mark.classList.add("wmviz-differs");
      flag.mark.append(svg("circle", { r: 9, cx: flag.at[0], cy: flag.at[1], class: "wmviz-member" }));
    }
  }

  // ----------------------------------------------------------------------- marbles

  /** Keep labels away from flags and from the name of the watermark. */
  reserve() {
    const { bands, steps, band_axis } = this.picture;
    const box = this.few && this.lines.reserved();
    if (!box) return;
    this.labels.take(box, () => false);
    for (const band of bands) {
      const { x2, y1 } = this.extent(band);
      for (const [step] of band.fires) this.labels.take({ x: (band_axis === "x" ? x2 : this.x(steps[step])) - 6, y: y1 - 5, w: 12, h: 10 });
    }
  }

  nameMarbles() {
    const { events } = this.picture;
    // One key for all events says nothing.
    const named = this.few && new Set(events.map(([, key]) => key)).size > 1;
    this.names = events.map(([, key], index) => (named ? this.keyBeside(index, key) : null));
  }

  keyBeside(index, key) {
    const [x, y] = this.points[index];
    const place = this.labels.around(x, y, key);
    if (!place) return null;
    const name = labelAt(place, { class: "wmviz-key", text: key });
    name.style.display = "none";
    this.labelLayer.append(name);
    return name;
  }

  // ------------------------------------------------------------------ the playhead

  nowLine() {
    this.line = svg("line", { y1: HEAD_Y, y2: this.box.bottom, class: "wmviz-now" });
    this.dot = svg("circle", { r: 3, class: "wmviz-now-dot" });
    this.clock = svg("text", { y: HEAD_Y - 5, class: "wmviz-now-name" });
    return svg("g", {}, this.line, this.dot, this.clock);
  }

  inBand(index, x, y) {
    const { x1, x2, y1, y2 } = this.extent(this.picture.bands[index]);
    return x >= x1 && x <= Math.max(x2, this.width) && y >= y1 && y <= y2;
  }

  /** Outline the windows that a click can choose. */
  offer(bands) {
    this.offered.replaceChildren(...bands.map((index) => {
      const { x1, x2, y1, y2 } = this.extent(this.picture.bands[index]);
      return svg("rect", { x: x1 + 3, y: y1 + 4, width: Math.max(0, x2 - x1 - 6), height: Math.max(0, y2 - y1 - 8), rx: 4, class: "wmviz-offered" });
    }));
  }

  selection() {
    this.offered = svg("g");
    this.cursor = svg("circle", { r: 9, class: "wmviz-cursor" });
    this.cursor.style.display = "none";
    this.rings = new Rings(this.points);
    this.lag = svg("path", { class: "wmviz-lag" });
    return svg("g", {}, this.offered, this.lag, this.rings.layer, this.cursor);
  }

  select(index) {
    this.rings.select(index);
    const chosen = index >= 0 && index < this.points.length;
    this.lag.style.display = chosen ? "" : "none";
    if (!chosen) return;
    const [x, y] = this.points[index];
    // Up to the diagonal: how long it was under way.
    this.lag.setAttribute("d", `M${x} ${y}V${this.yInside(this.picture.events[index][2])}`);
  }

  /** Draw the moment: the marks of a step, and what grows with the clock. */
  draw(fates, change, now, clock) {
    const { step, changed } = change;
    this.now = now;
    this.timeline.go(step);
    if (changed.size || change.before !== step) this.marbles.draw(fates, change);
    for (const index of changed) if (this.names[index]) this.names[index].style.display = fates.looks[index] < 0 ? "none" : "";
    for (const { index, node } of this.arrows) node.style.display = fates.looks[index] < 0 ? "none" : "";
    const x = this.xInside(now);
    for (const segment of this.growing) segment.rect.setAttribute("width", Math.max(0, Math.min(segment.end, x) - segment.begin));
    for (const name of ["x1", "x2"]) this.line.setAttribute(name, x);
    this.dot.setAttribute("cx", x);
    this.dot.setAttribute("cy", this.yInside(now));
    const half = clock.length * 3.4;
    this.clock.textContent = clock;
    this.clock.setAttribute("x", Math.min(this.width - half - 2, Math.max(this.box.left + half, x)));
    this.lines.draw(step, now, { x: Number(this.clock.getAttribute("x")) - half, y: HEAD_Y - 17, w: 2 * half, h: 14 });
  }
}

/** Whether a session has begun and is not part of another one. */
function lives(states, stands) {
  return stands >= 0 && states[stands][1] !== MERGED;
}

/** Break a long name of a window, "[start, end)", into two lines. */
function lineUp(label) {
  return label.length > 20 ? label.split(/(?<=,) /) : [label];
}
