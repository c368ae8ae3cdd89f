// The pipeline: source subtasks, channels, window tasks and the sink as boxes, each with what it knows at the playhead.

const ROW = 20;
const HEAD = 46;
const BOX = { source: 212, task: 262, sink: 150 };

class Pipeline {
  constructor(picture, width) {
    this.width = width;
    this.across = width >= 720;
    this.height = 0;
    this.clockwork = new Clockwork(picture);
    this.picture = picture;
    this.live = [];
    this.lines = svg("g");
    this.boxes = svg("g");
    const { sources, tasks } = picture.pipeline;
    this.place(sources, tasks);
    sources.forEach((source, nth) => this.box(source, this.sourcePlaces[nth]));
    tasks.forEach((task, nth) => this.box(task, this.taskPlaces[nth]));
    this.sink(this.sinkPlace);
    tasks.forEach((task, nth) => this.channels(task, nth));
    const sheet = { viewBox: `0 0 ${width} ${this.height}`, width, height: this.height, role: "img", "aria-label": "The job: sources, channels, window tasks and sink" };
    this.svg = svg("svg", { ...sheet, class: "wmviz-plane-svg" }, this.lines, this.boxes);
    this.node = html("div", { class: "wmviz-pipeline-sheet" }, this.svg);
    if (picture.pipeline.left_out) this.node.append(html("p", { class: "wmviz-more", text: picture.pipeline.left_out }));
  }

  // ---------------------------------------------------------------------------- places

  boxHeight({ inputs, counts }) {
    return HEAD + (inputs.length + Math.ceil(counts.length / 2)) * ROW;
  }

  place(sources, tasks) {
    const sink = HEAD + 2 * ROW;
    if (this.across) {
      const column = (boxes, x, w) => {
        let y = 8;
        return boxes.map((h) => {
          const place = { x, y, w, h };
          y += h + 14;
          return place;
        });
      };
      const middle = (BOX.source + (this.width - BOX.sink)) / 2 - BOX.task / 2;
      this.sourcePlaces = column(sources.map((box) => this.boxHeight(box)), 1, BOX.source);
      this.taskPlaces = column(tasks.map((box) => this.boxHeight(box)), middle, BOX.task);
      this.sinkPlace = column([sink], this.width - BOX.sink - 1, BOX.sink)[0];
      const ends = [...this.sourcePlaces, ...this.taskPlaces, this.sinkPlace].map(({ y, h }) => y + h);
      this.height = Math.max(...ends) + 8;
      for (const places of [this.sourcePlaces, this.taskPlaces, [this.sinkPlace]]) this.centre(places);
    } else this.stack(sources, tasks, sink);
  }

  centre(places) {
    const last = places.at(-1);
    const shift = (this.height - 8 - (last.y + last.h)) / 2;
    for (const place of places) place.y += shift;
  }

  /** On a narrow page everything stands below each other; channels run along the left side. */
  stack(sources, tasks, sink) {
    let y = 8;
    const next = (h) => {
      const place = { x: 22, y, w: this.width - 23, h };
      y += h + 16;
      return place;
    };
    this.sourcePlaces = sources.map((box) => next(this.boxHeight(box)));
    this.taskPlaces = tasks.map((box) => next(this.boxHeight(box)));
    this.sinkPlace = next(sink);
    this.height = y;
  }

  // ----------------------------------------------------------------------------- boxes

  box({ clock, inputs, counts }, { x, y, w, h }) {
    const { name } = this.clockwork.clocks[clock];
    const group = svg("g", {}, svg("rect", { x, y, width: w, height: h, rx: 7, class: "wmviz-box" }), svg("text", { x: x + 12, y: y + 19, class: "wmviz-box-name", text: name }));
    const mark = svg("text", { x: x + 12, y: y + 37, class: "wmviz-watermark-name" });
    const sign = svg("path", { class: "wmviz-status-sign", transform: `translate(${x + w - 18} ${y + 15})` });
    const status = svg("text", { x: x + w - 28, y: y + 19, "text-anchor": "end", class: "wmviz-status-name" });
    group.append(mark, sign, status);
    this.live.push((step) => {
      const state = this.clockwork.at(clock, step);
      mark.textContent = state.text ? `watermark ${state.text}` : "no watermark yet";
      status.textContent = state.status ? this.picture.statuses[state.status] : "";
      sign.setAttribute("d", STATUS_SIGNS[state.status]);
    });
    inputs.forEach((input, nth) => this.input(group, input, x, y + HEAD + nth * ROW, w));
    this.counts(group, counts, x, y + HEAD + inputs.length * ROW, w);
    this.boxes.append(group);
  }

  /** What a box knows of an input: its watermark, its status, and whether it holds the box back. */
  input(group, input, x, y, w) {
    const row = svg("rect", { x: x + 5, y, width: w - 10, height: ROW - 3, rx: 4, class: "wmviz-gate" });
    const name = svg("text", { x: x + 12, y: y + 13, class: "wmviz-gate-name", text: this.clockwork.inputName(input) });
    const state = svg("text", { x: x + w - 12, y: y + 13, "text-anchor": "end", class: "wmviz-gate-state" });
    group.append(row, name, state);
    this.live.push((step) => {
      const now = this.clockwork.at(input, step);
      const words = now.status ? ` · ${this.picture.statuses[now.status]}` : "";
      state.textContent = `${now.text || "no watermark"}${words}${now.holds ? " ◂" : ""}`;
      row.classList.toggle("wmviz-holds", now.holds);
      row.classList.toggle("wmviz-out", now.status > 0);
      state.classList.toggle("wmviz-holds", now.holds);
    });
  }

  counts(group, counts, x, y, w) {
    counts.forEach(([name, ...series], nth) => {
      const [steps, numbers] = unzip(series);
      const text = svg("text", { x: x + 12 + (nth % 2) * (w / 2 - 6), y: y + 13 + Math.floor(nth / 2) * ROW, class: "wmviz-count-name" });
      group.append(text);
      this.live.push((step) => {
        text.textContent = `${name}: ${numbers[lastUpTo(steps, step)] ?? 0}`;
      });
    });
  }

  sink({ x, y, w, h }) {
    const group = svg("g", {}, svg("rect", { x, y, width: w, height: h, rx: 7, class: "wmviz-box" }), svg("text", { x: x + 12, y: y + 19, class: "wmviz-box-name", text: "sink" }));
    this.picture.pipeline.sink.forEach((count, nth) => this.counts(group, [count], x, y + HEAD - 16 + nth * ROW, w));
    this.boxes.append(group);
  }

  // -------------------------------------------------------------------------- channels

  channels({ clock, inputs }, nth) {
    const to = this.taskPlaces[nth];
    inputs.forEach((input, row) => {
      const end = to.y + HEAD + row * ROW + (ROW - 3) / 2;
      const path = svg("path", { d: this.route(this.sourcePlaces[row], to, end), class: "wmviz-channel" });
      const head = this.across ? svg("path", { d: `M${to.x + 4} ${end}l-7 -4v8z`, class: "wmviz-channel-head" }) : svg("path", { d: `M${to.x + 4} ${end}l-7 -4v8z`, class: "wmviz-channel-head" });
      this.lines.append(path, head);
      this.live.push((step) => {
        const now = this.clockwork.at(input, step);
        path.classList.toggle("wmviz-holds", this.clockwork.clocks[input].into === clock && now.holds);
        path.classList.toggle("wmviz-out", now.status > 0);
      });
    });
    this.lines.append(svg("path", { d: this.route(to, this.sinkPlace, this.sinkPlace.y + this.sinkPlace.h / 2, true), class: "wmviz-channel" }));
  }

  route(from, to, end, fromMiddle = false) {
    const start = from.y + (fromMiddle ? from.h / 2 : Math.min(from.h / 2, 30));
    if (!this.across) return `M${from.x} ${start}H12V${end}H${to.x}`;
    const [x1, x2] = [from.x + from.w, to.x - 3];
    const bend = (x1 + x2) / 2;
    return `M${x1} ${start}C${bend} ${start} ${bend} ${end} ${x2} ${end}`;
  }

  draw(step) {
    if (step === this.step) return;
    this.step = step;
    for (const show of this.live) show(step);
  }
}
