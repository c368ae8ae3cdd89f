// The pipeline: source subtasks, channels, window tasks and the sink as boxes, each with what it knows at the playhead.

const ROW = 20;
const TALL = 34; // a row that also says what waits
const LINE = 16;
const HEAD = 46;
const LEAST = { source: 212, task: 268, sink: 196 };
const GAPS = { plain: 44, running: 244 }; // least width of all channels of a row
const STRAIGHT = 96; // the end of a channel, where elements wait
const SQUARE = 10;

/** In the place of a pipeline of which nothing was reported. */
class UnseenPipeline {
  constructor({ engine }) {
    this.node = html("p", { class: "wmviz-more", text: `Pipeline: not observed. What ${engine} reports says nothing of tasks, channels, barriers and checkpoints.` });
  }

  describe(box) {
    box.setAttribute("aria-label", this.node.textContent);
  }

  draw() {}
}

class Pipeline {
  constructor(picture, width) {
    this.width = width;
    this.height = 0;
    this.clockwork = new Clockwork(picture);
    this.picture = picture;
    this.live = [];
    this.lines = svg("g");
    this.boxes = svg("g");
    const { sources, tasks, paused } = picture.pipeline;
    this.paused = new Map(paused.map(([clock, ...changes]) => [clock, series(changes)]));
    this.runs = tasks.some(({ channels }) => channels.some(({ queue, blocked }) => queue || blocked));
    this.row = this.runs ? TALL : ROW;
    this.wide = { source: this.widthOf(sources, LEAST.source), task: this.widthOf(tasks, LEAST.task), sink: LEAST.sink };
    this.across = width >= this.wide.source + this.wide.task + this.wide.sink + (this.runs ? GAPS.running : GAPS.plain);
    this.place(sources, tasks);
    sources.forEach((source, nth) => this.box(source, this.sourcePlaces[nth]));
    tasks.forEach((task, nth) => this.box(task, this.taskPlaces[nth]));
    this.sink(this.sinkPlace);
    tasks.forEach((task, nth) => this.channels(task, nth));
    const sheet = { viewBox: `0 0 ${width} ${this.height}`, width, height: this.height, "aria-hidden": "true" };
    this.svg = svg("svg", { ...sheet, class: "wmviz-plane-svg" }, this.lines, this.boxes);
    this.node = html("div", { class: "wmviz-pipeline-sheet" }, this.job(), this.svg);
    if (picture.pipeline.left_out) this.node.append(html("p", { class: "wmviz-more", text: picture.pipeline.left_out }));
  }

  /** How wide boxes must be for what they ever say of a clock. */
  widthOf(boxes, least) {
    const longest = (index) => Math.max(0, ...this.clockwork.clocks[index].values.map((place) => this.picture.times[place][1].length));
    const sleeps = (index) => this.clockwork.clocks[index].statuses.some((status) => status > 0);
    const state = (index) => longest(index) + (this.paused.has(index) ? 21 : sleeps(index) ? 11 : 2);
    const rows = boxes.flatMap(({ clock, inputs }) => [
      30 + 7 * (10 + longest(clock)),
      ...inputs.map((input) => 34 + 6.3 * (this.clockwork.inputName(input).length + state(input))),
    ]);
    return Math.max(least, ...rows);
  }

  // ---------------------------------------------------------------------------- places

  boxHeight({ inputs, counts, notes, channels }) {
    return HEAD + inputs.length * (channels ? this.row : ROW) + Math.ceil(counts.length / 2) * ROW + this.linesOf(notes) * LINE + 6;
  }

  /** How many lines a list of changes ever has. */
  linesOf(changes) {
    return Math.max(0, ...changes.map((change) => change.length - 1));
  }

  place(sources, tasks) {
    const sink = HEAD + 2 * ROW - 10 + this.linesOf(this.picture.pipeline.transactions) * LINE;
    if (this.across) {
      const column = (boxes, x, w) => {
        let y = 8;
        return boxes.map((h) => {
          const place = { x, y, w, h };
          y += h + 14;
          return place;
        });
      };
      const { source, task, sink: last } = this.wide;
      const middle = (source + (this.width - last)) / 2 - task / 2;
      this.sourcePlaces = column(sources.map((box) => this.boxHeight(box)), 1, source);
      this.taskPlaces = column(tasks.map((box) => this.boxHeight(box)), middle, task);
      this.sinkPlace = column([sink], this.width - last - 1, last)[0];
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

  box({ clock, inputs, counts, notes, channels }, { x, y, w, h }) {
    const { name } = this.clockwork.clocks[clock];
    const group = svg("g", {}, svg("rect", { x, y, width: w, height: h, rx: 7, class: "wmviz-box" }), svg("text", { x: x + 12, y: y + 19, class: "wmviz-box-name", text: name }));
    const mark = svg("text", { x: x + 12, y: y + 37, class: "wmviz-watermark-name" });
    const sign = svg("path", { class: "wmviz-status-sign", transform: `translate(${x + w - 18} ${y + 15})` });
    const status = svg("text", { x: x + w - 28, y: y + 19, "text-anchor": "end", class: "wmviz-status-name" });
    group.append(mark, sign, status);
    this.live.push((step) => {
      const state = this.clockwork.at(clock, step);
      mark.textContent = state.text ? `watermark ${state.text}` : "no watermark yet";
      status.textContent = this.isPaused(clock, step) ? "waits: alignment" : state.status ? this.picture.statuses[state.status] : "";
      sign.setAttribute("d", STATUS_SIGNS[state.status]);
    });
    const row = channels ? this.row : ROW;
    inputs.forEach((input, nth) => this.input(group, input, { x, y: y + HEAD + nth * row, w, row }, channels?.[nth]));
    const below = y + HEAD + inputs.length * row;
    this.counts(group, counts, x, below, w);
    this.notes(group, notes, x, below + Math.ceil(counts.length / 2) * ROW);
    this.boxes.append(group);
  }

  isPaused(clock, step) {
    return this.paused.get(clock)?.(step)?.[0] === 1;
  }

  /** Lines that come and go. */
  notes(group, changes, x, y) {
    const at = series(changes);
    const lines = Array.from({ length: this.linesOf(changes) }, (_, nth) => svg("text", { x: x + 12, y: y + 11 + nth * LINE, class: "wmviz-note-line" }));
    group.append(...lines);
    this.live.push((step) => {
      const words = at(step) ?? [];
      lines.forEach((line, nth) => {
        line.textContent = words[nth] ?? "";
      });
    });
  }

  /** What a box knows of an input: its watermark, its status, and whether it holds the box back. */
  input(group, input, { x, y, w, row: height }, channel) {
    const row = svg("rect", { x: x + 5, y, width: w - 10, height: height - 3, rx: 4, class: "wmviz-gate" });
    const name = svg("text", { x: x + 12, y: y + 13, class: "wmviz-gate-name", text: this.clockwork.inputName(input) });
    const state = svg("text", { x: x + w - 12, y: y + 13, "text-anchor": "end", class: "wmviz-gate-state" });
    const wait = svg("text", { x: x + 12, y: y + 27, class: "wmviz-note-line" });
    const bar = svg("path", { d: `M${x + 5} ${y}v${height - 3}`, class: "wmviz-blocked" });
    group.append(row, name, state, wait, bar);
    const [queue, blocked] = [series(channel?.queue ?? []), series(channel?.blocked ?? [])];
    this.live.push((step) => {
      const now = this.clockwork.at(input, step);
      const words = this.isPaused(input, step) ? " · waits: alignment" : now.status ? ` · ${this.picture.statuses[now.status]}` : "";
      state.textContent = `${now.text || "no watermark"}${words}${now.holds ? " ◂" : ""}`;
      const [waiting] = queue(step) ?? [0];
      const [barrier] = blocked(step) ?? [0];
      wait.textContent = [waiting ? `${waiting} waiting` : "", barrier ? `blocked: barrier ${barrier} is here` : ""].filter(Boolean).join(" · ");
      bar.style.display = barrier ? "" : "none";
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
        text.textContent = `${name}: ${grouped(numbers[lastUpTo(steps, step)] ?? 0)}`;
      });
    });
  }

  sink({ x, y, w, h }) {
    const group = svg("g", {}, svg("rect", { x, y, width: w, height: h, rx: 7, class: "wmviz-box" }), svg("text", { x: x + 12, y: y + 19, class: "wmviz-box-name", text: "sink" }));
    this.picture.pipeline.sink.forEach((count, nth) => this.counts(group, [count], x, y + HEAD - 16 + nth * ROW, w));
    this.notes(group, this.picture.pipeline.transactions, x, y + HEAD + 2 * ROW - 16);
    this.boxes.append(group);
  }

  /** What is said of the whole job: its checkpoints, and whether it is down. */
  job() {
    const { job, checkpoint } = this.picture.pipeline;
    const line = html("p", { class: "wmviz-job", role: "status" });
    const [jobAt, checkpointAt] = [series(job), series(checkpoint)];
    line.hidden = !job.length && !checkpoint.length;
    this.live.push((step) => {
      const [down, words] = jobAt(step) ?? [0, ""];
      line.textContent = [down ? `✕ ${words}` : words, ...(down ? [] : checkpointAt(step) ?? [])].filter(Boolean).join(" · ") || "No checkpoint yet.";
      line.classList.toggle("wmviz-down", down === 1);
      this.svg?.classList.toggle("wmviz-is-down", down === 1);
    });
    return line;
  }

  // -------------------------------------------------------------------------- channels

  channels({ clock, inputs, channels }, nth) {
    const to = this.taskPlaces[nth];
    inputs.forEach((input, row) => {
      const end = to.y + HEAD + row * this.row + (ROW - 3) / 2;
      const path = svg("path", { d: this.route(this.sourcePlaces[row], to, end), class: "wmviz-channel" });
      const head = svg("path", { d: `M${to.x + 4} ${end}l-7 -4v8z`, class: "wmviz-channel-head" });
      this.lines.append(path, head);
      this.live.push((step) => {
        const now = this.clockwork.at(input, step);
        path.classList.toggle("wmviz-holds", this.clockwork.clocks[input].into === clock && now.holds);
        path.classList.toggle("wmviz-out", now.status > 0);
      });
      // Side by side elements wait in front of the box; below each other there is room for them only in it.
      const [x, y] = this.across ? [to.x - 8, end] : [to.x + to.w - 18, end + 15];
      this.contents(path, channels[row] ?? {}, x, y);
    });
    this.lines.append(svg("path", { d: this.route(to, this.sinkPlace, this.sinkPlace.y + this.sinkPlace.h / 2, true), class: "wmviz-channel" }));
  }

  route(from, to, end, fromMiddle = false) {
    const start = from.y + (fromMiddle ? from.h / 2 : Math.min(from.h / 2, 30));
    if (!this.across) return `M${from.x} ${start}H12V${end}H${to.x}`;
    const [x1, x2] = [from.x + from.w, to.x - 3];
    const straight = fromMiddle ? x2 : Math.max(x1 + 40, x2 - (this.runs ? STRAIGHT : 0));
    const bend = (x1 + straight) / 2;
    return `M${x1} ${start}C${bend} ${start} ${bend} ${end} ${straight} ${end}H${x2}`;
  }

  /** What is in a channel: at its end what waits, the oldest first; before that what is on its way. */
  contents(path, { queue = [], travels = [] }, x, y) {
    const layer = svg("g");
    this.boxes.append(layer);
    const at = series(queue);
    const most = Math.floor(STRAIGHT / SQUARE);
    this.live.push((step) => {
      const [count, ...elements] = at(step) ?? [0];
      const shown = elements.slice(0, count > most ? most - 2 : most);
      const marks = shown.map((element, nth) => this.element(element, x - nth * SQUARE, y));
      if (count > shown.length) marks.push(svg("text", { x: x - shown.length * SQUARE, y: y + 4, "text-anchor": "end", class: "wmviz-queue-more", text: `+${count - shown.length}` }));
      const moving = travels.filter(([from, to]) => from <= step && step < to);
      const length = path.getTotalLength?.() ?? 0;
      moving.forEach(([, , element], nth) => {
        const point = path.getPointAtLength(length * Math.max(0.1, 0.45 - nth * 0.12));
        marks.push(this.element(element, point.x, point.y));
      });
      layer.replaceChildren(...marks);
    });
  }

  /** An element in a channel: a marble, a watermark's tick, a barrier's bar with its number, a status. */
  element(element, x, y) {
    const [kind, words] = [element[0], element.slice(1)];
    if (kind === "e") {
      const [id] = this.picture.events[Number(words)];
      return svg("g", {}, svg("circle", { cx: x, cy: y, r: 4, class: "wmviz-in-channel" }), svg("title", { text: id }));
    }
    if (kind === "b") return this.barrier(...words.split("@"), x, y);
    if (kind === "w") return svg("g", { class: "wmviz-in-channel-watermark" }, svg("path", { d: `M${x} ${y - 6}v12` }), svg("title", { text: `watermark ${words}` }));
    return svg("g", { class: "wmviz-in-channel-watermark" }, svg("path", { d: `M${x - 2} ${y - 4}v8M${x + 2} ${y - 4}v8` }), svg("title", { text: "status" }));
  }

  /** A barrier: its bar and number, and the sentence of the task that has sent it. */
  barrier(number, row, x, y) {
    const title = svg("title", { text: this.sentence?.(Number(row)) || `barrier ${number}` });
    const [half, text] = this.across ? [9, { x, y: y - 11, "text-anchor": "middle" }] : [6, { x: x - 3, y: y + 4, "text-anchor": "end" }];
    return svg("g", { class: "wmviz-barrier" }, svg("path", { d: `M${x} ${y - half}v${2 * half}` }), svg("text", { ...text, text: number }), title);
  }

  /** The pipeline in words. */
  describe(box) {
    const texts = [...this.boxes.querySelectorAll("text")].map(({ textContent }) => textContent).filter(Boolean);
    box.setAttribute("aria-label", `Pipeline. ${texts.join(", ")}`);
  }

  draw(step) {
    if (step === this.step) return;
    this.step = step;
    for (const show of this.live) show(step);
  }
}

/** Changes [step, …] as a function of the step: what stands then, without the step; undefined before the first. */
function series(changes) {
  const steps = changes.map(([step]) => step);
  return (step) => changes[lastUpTo(steps, step)]?.slice(1);
}
