// The stage: the parts on one playhead, and the gestures. What it knows, the host knows too.

const LEAST_WIDTH = 160;
const SAVE_EVERY = 100; // ms between two reports of the playhead, and between two readings of the sentences while it plays

class Stage {
  constructor(host, root) {
    this.host = host;
    this.live = host.live && host.get("editable");
    this.root = root;
    this.step = host.get("step");
    this.playing = false;
    this.sentences = null;
    this.talk = new Talk(host, { onSend: () => host.set("step", this.step), onAnswer: (problem) => this.parameters.tell(problem) });
    this.why = new Why({ live: this.live, onJump: (step) => this.go(step), onClose: () => this.closeLife(), onSelect: (index) => this.select(index) });
    this.results = new Results((index) => this.chooseResult(index));
    this.variant = new Variant();
    this.controls = new Controls({
      toggle: () => this.toggle(),
      step: (by, fine) => this.move(by, fine),
      scrub: (moment) => this.go(this.stepOf(moment)),
      reset: () => this.go(-1),
      end: () => this.go(this.picture.steps.length - 1),
      speed: (speed) => this.report("speed", speed),
    });
    this.editor = new Editor((tool) => this.tool(tool), (text) => this.command({ do: "load", text }));
    this.parts = new Parts((part) => this.togglePart(part));
    this.parameters = new Parameters((name, value) => this.change(name, value));
    this.picture = host.get("picture");
    this.predict = new Predict(this);
    this.walk = new Walk(this);
    this.frame();
    this.listen();
    this.show();
  }

  frame() {
    this.title = html("h3", { class: "wmviz-name" });
    this.note = html("p", { class: "wmviz-note" });
    this.bubble = html("div", { class: "wmviz-bubble", role: "status" });
    this.bubble.hidden = true;
    this.planeBox = html("div", { class: "wmviz-surface wmviz-plane-box", tabindex: "0", role: "group" });
    this.lanesBox = html("div", { class: "wmviz-surface wmviz-lanes-box", tabindex: "0", role: "group", "aria-label": "Lanes: the events of each partition in order of arrival" });
    this.pipelineBox = html("section", { class: "wmviz-pipeline", tabindex: "0", "aria-label": "Pipeline" });
    this.legendBox = html("div");
    this.name = html("p", { class: "wmviz-variant-name" });
    const left = html("div", { class: "wmviz-left" }, this.lanesBox, this.legendBox, this.name, this.planeBox, this.variant.node, this.predict.node, this.controls.node, this.editor.node);
    const head = html("header", { class: "wmviz-header" }, html("div", { class: "wmviz-names" }, this.title, this.note), html("div", { class: "wmviz-tools" }, this.parameters.node, this.parts.node));
    this.editor.node.hidden = !this.live;
    this.root.classList.add("wmviz");
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab leaves the keys to the stage
    this.root.replaceChildren(head, html("div", { class: "wmviz-main" }, left, this.why.node), this.pipelineBox, this.results.node);
  }

  listen() {
    const { host } = this;
    host.on("picture", () => this.show());
    host.on("sentences", () => this.tell());
    host.on("answer", () => this.talk.answered());
    host.on("given", () => this.take(host.get("given")));
    // What comes together with another picture is drawn with it.
    const fresh = (act) => () => host.get("picture").id === this.picture.id && act();
    host.on("differing", fresh(() => host.get("differing") !== this.differing && this.build()));
    host.on("can", fresh(() => this.draw()));
    // A model tells of its own changes too; only what comes from elsewhere moves the playhead.
    host.on("step", fresh(() => host.get("step") !== this.step && this.go(host.get("step"), false)));
    host.on("speed", () => this.draw());
    for (const name of ["selected", "result", "firing", "group"]) host.on(name, fresh(() => this.draw()));
    host.on("parts", () => this.build());
    host.on("playing", () => host.get("playing") !== this.playing && this.toggle());
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.hands = [this.planeBox, this.lanesBox].map((box) => new Hand(this, box));
    this.watcher = new ResizeObserver(() => this.resize());
    this.watcher.observe(this.planeBox);
    this.themes = watchTheme(this.root, () => this.surfaces().forEach(({ marbles }) => marbles.canvas?.again()));
  }

  close() {
    this.playing = false;
    clearTimeout(this.saving);
    this.watcher.disconnect();
    this.themes();
  }

  // -------------------------------------------------------------------- from Python

  show() {
    const again = this.host.get("picture").id === this.picture.id; // the host may not know yet where the playhead is
    this.picture = { ...this.host.get("picture"), events: this.host.get("events") };
    this.sentences = this.told(); // they follow the picture: until then those of the last one stay
    this.player = new Player(this.picture);
    [this.clockSteps, this.clocks] = unzip(this.picture.clocks);
    // In predict mode its title, and what is said about it, would tell too much; there they come at the end.
    this.title.textContent = this.predict.on ? this.predict.heading : this.picture.title;
    this.note.textContent = [this.predict.on ? "" : this.picture.about, this.picture.note].filter(Boolean).join(" ");
    this.parameters.show(this.picture.parameters ?? [], this.live);
    this.controls.show(this.picture);
    this.results.show(this.picture);
    this.step = Math.min(this.playing || again ? this.step : this.host.get("step"), this.picture.steps.length - 1);
    this.build();
    if (this.playing) this.player.seek(this.moment());
  }

  told() {
    const told = this.host.get("sentences");
    return told && told.id === this.picture.id ? told : null;
  }

  tell() {
    this.sentences = this.told() ?? this.sentences;
    this.draw();
  }

  build() {
    if (!this.width) return;
    this.why.show(this.picture);
    this.drawn = null;
    this.fates = new Fates(this.picture);
    this.fates.onLook = (look, before) => this.why.count(look, before);
    this.parts.show(this.host.get("parts"));
    this.buildPlane();
    this.buildLanes();
    this.differing = this.host.get("differing");
    this.variant.show(this.host.get("other") ?? {}, this.differing ?? {}, this.width, this.plane.highest);
    this.name.hidden = this.variant.node.hidden;
    if (!this.name.hidden) caption(this.name, ...this.differing.captions[0]);
    this.plane.markFires(this.differing?.fires?.[0] ?? []);
    this.pipeline = this.open("pipeline") ? this.newPipeline() : null;
    this.pipelineBox.replaceChildren(...(this.pipeline ? [this.pipeline.node] : []));
    this.pipelineBox.hidden = !this.pipeline;
    this.results.node.hidden = !this.open("results") || !this.picture.results.length;
    this.draw();
    this.mark(this.predict.questions[this.predict.open] ?? null);
    const holding = this.hands.find(({ held }) => held?.moving);
    if (holding) this.point(this.host.get("selected"), holding.surface);
  }

  newPipeline() {
    if (!this.picture.complete) return new UnseenPipeline(this.picture);
    const pipeline = new Pipeline(this.picture, Math.max(LEAST_WIDTH, Math.floor(this.root.clientWidth - 34)));
    pipeline.sentence = (row) => this.sentences?.texts[row];
    return pipeline;
  }

  open(part) {
    return this.host.get("parts").includes(part);
  }

  buildPlane() {
    // What stands above and below the plane takes from its height, so that the controls stay near.
    // A page with little room, such as a slide, says how high the plane may be.
    const room = this.host.get("highest") ?? Infinity;
    const highest = Math.min(room, (this.host.get("other")?.id ? 360 : 540) - (this.open("lanes") ? Math.min(120, this.picture.lanes.length * LANE) : 0) - (this.open("pipeline") ? 60 : 0));
    if (this.plane?.fits(this.picture, this.width, highest)) return this.plane.fill(this.picture);
    this.plane?.node.remove();
    this.plane = new Plane(this.picture, this.width, highest);
    this.lanes = null;
    this.planeBox.prepend(this.plane.node);
    this.legendBox.replaceChildren(this.plane.lines.legend);
  }

  buildLanes() {
    this.lanesBox.hidden = !this.open("lanes");
    if (!this.open("lanes")) this.lanes = null;
    else if (this.lanes) this.lanes.fill(this.picture);
    else this.lanes = new Lanes(this.picture, this.plane);
    const left = this.picture.lanes_left_out;
    const note = left ? [html("p", { class: "wmviz-more", text: `${left.toLocaleString("en")} more partitions have no lane here.` })] : [];
    this.lanesBox.replaceChildren(...(this.lanes ? [this.lanes.node, ...note] : []));
  }

  togglePart(part) {
    const open = this.host.get("parts");
    this.host.set("parts", open.includes(part) ? open.filter((other) => other !== part) : [...open, part]);
    this.host.save();
    this.build();
  }

  /** The parts that show marbles. */
  surfaces() {
    return [this.plane, this.lanes].filter(Boolean);
  }

  surface(box) {
    return box === this.lanesBox ? this.lanes : this.plane;
  }

  resize() {
    const width = Math.floor(this.planeBox.clientWidth);
    if (width === this.width || width < LEAST_WIDTH) return; // not shown just now
    this.width = width;
    requestAnimationFrame(() => this.build());
  }

  // ------------------------------------------------------------------ to Python

  report(name, value) {
    this.host.set(name, value);
    this.host.save();
    this.draw();
  }

  change(name, value) {
    this.talk.ask({ key: name, name, value });
  }

  command(command) {
    if (this.live) this.talk.command(command);
  }

  // ----------------------------------------------------------------------- the tools

  tool(name) {
    if (name === "add") {
      this.editor.adding = !this.editor.adding;
      for (const box of [this.planeBox, this.lanesBox]) box.classList.toggle("wmviz-adding", this.editor.adding);
      this.draw();
    } else if (name === "open") this.editor.file.click();
    else this.command({ do: name });
  }

  add(target) {
    this.editor.adding = true;
    this.tool("add");
    this.command({ do: "add", ...target });
  }

  /** Add an event where the playhead is, as it happens. */
  addNow() {
    const at = this.step < 0 ? this.picture.x.from : this.picture.steps[this.step];
    const arrival = this.plane.snapped(at, this.picture.x.from, this.picture.x.to, this.picture.snap[0]);
    this.add({ arrival, time: arrival });
  }

  /** Move the chosen event by steps of the grid; steps that follow each other at once are undone together. */
  nudge(...by) {
    const now = performance.now();
    if (now - (this.nudged ?? 0) > 1000) this.nudging = `nudge ${now}`;
    this.nudged = now;
    this.command({ do: "move", by, gesture: this.nudging });
  }

  take({ name, text }) {
    if (!text) return;
    if (name === "code") this.editor.showCode(text);
    else this.download(text, name === "json" ? "application/json" : "text/html", name === "json" ? "scenario.json" : "stage.html");
  }

  download(text, type, file) {
    const link = html("a", { href: URL.createObjectURL(new Blob([text], { type })), download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }

  // -------------------------------------------------------------------- the playhead

  /** The moment that a step belongs to; -1 before the first. */
  moment() {
    return this.step < 0 ? -1 : lastUpTo(this.picture.moments, this.step - 1) + 1;
  }

  stepOf(moment) {
    return moment < 0 ? -1 : this.picture.moments[moment];
  }

  get fine() {
    return this.step >= 0 && this.picture.moments[this.moment()] !== this.step;
  }

  go(step, report = true) {
    this.now = null;
    this.predict.passed(step);
    this.step = step;
    this.player.seek(this.moment());
    this.draw();
    if (report) this.save();
  }

  move(by, fine) {
    if (this.playing) this.toggle();
    const last = this.picture.steps.length - 1;
    const moment = this.moment() + (by > 0 ? (this.fine ? 0 : 1) : -1);
    const step = fine ? Math.min(last, Math.max(-1, this.step + by)) : this.stepOf(Math.min(this.picture.moments.length - 1, Math.max(-1, moment)));
    if (!this.stopped(step)) this.go(step);
  }

  /** In predict mode, stop before a question that lies on the way to a step, and ask it. */
  stopped(step) {
    const nth = this.predict.between(this.step, step);
    if (nth < 0) return false;
    if (this.playing) this.toggle();
    this.go(this.predict.firstStep(nth) - 1);
    this.predict.ask(nth);
    return true;
  }

  toggle() {
    this.playing = !this.playing;
    this.host.set("playing", this.playing);
    if (this.playing) {
      if (this.step >= this.picture.steps.length - 1) this.go(-1);
      this.player.seek(this.moment());
      this.before = null;
      requestAnimationFrame((at) => this.tick(at));
    }
    this.save();
    this.draw();
  }

  tick(at) {
    if (!this.playing || !this.root.isConnected) return;
    // The first frame's own timestamp is zero: it can be earlier than performance.now().
    this.player.advance((at - (this.before ?? at)) * this.host.get("speed"));
    this.before = at;
    const { moment, now } = this.player.read();
    if (this.stopped(this.stepOf(moment))) return;
    this.step = this.stepOf(moment);
    this.now = calm() ? null : now;
    this.draw();
    this.save();
    if (this.player.done) this.toggle();
    else requestAnimationFrame((next) => this.tick(next));
  }

  /** Tell Python where the playhead is: at once if it has not just been told, else a little later. */
  save() {
    this.saving ??= setTimeout(() => {
      this.saving = null;
      this.saved = performance.now();
      this.host.set("step", this.step);
      this.host.save();
    }, Math.max(0, SAVE_EVERY - (performance.now() - (this.saved ?? 0))));
  }

  draw() {
    if (!this.plane) return;
    const { picture, step } = this;
    const moment = this.moment();
    const standing = step < 0 ? (picture.steps.length ? Math.min(picture.x.from, picture.steps[0]) : 0) : picture.steps[step];
    const [selected, result, firing] = ["selected", "result", "firing"].map((name) => this.host.get(name));
    const clock = step < 0 ? "" : this.clocks[lastUpTo(this.clockSteps, step)];
    const group = this.host.get("group") ?? [];
    const change = this.fates.go(step);
    this.plane.draw(this.fates, change, this.now ?? standing, clock);
    this.lanes?.draw(this.fates, change, this.now ?? standing);
    this.pipeline?.draw(step);
    if (this.live) this.editor.show(this.host.get("can"), selected);
    const standsFrom = step < 0 ? null : standing;
    this.variant.draw(standsFrom, step === picture.steps.length - 1, this.now ?? standing, clock);
    this.plane.select(selected);
    this.lanes?.rings.select(selected);
    this.controls.draw(moment, clock || "before the first event", this.playing, this.host.get("speed"));
    const told = performance.now();
    if (this.playing && told - (this.toldAt ?? 0) < SAVE_EVERY) return;
    this.toldAt = told;
    if (this.drawn?.step === step && this.drawn.picture === picture && this.drawn.sentences === this.sentences && this.drawn.selected === selected && this.drawn.result === result && this.drawn.firing === firing && this.drawn.group === group && this.drawn.plane === this.plane) return;
    this.drawn = { group, step, picture, sentences: this.sentences, selected, result, firing, plane: this.plane };
    this.why.draw(step, moment, this.fine, clock, this.sentences, this.playing);
    this.why.drawChosen({ selected, result, firing }, step, this.sentences, this.predict.hides(step));
    this.results.draw(step, result);
    const members = group.length ? group : result >= 0 ? membersOf(picture.results[result], step) : firing >= 0 ? firedMembers(picture, firing) : this.host.get("differing")?.events?.[0] ?? [];
    for (const surface of this.surfaces()) surface.rings.mark(members);
    this.planeBox.setAttribute("aria-label", this.words(clock));
    this.lanes?.describe(this.lanesBox);
    this.pipeline?.describe(this.pipelineBox);
  }

  /** The picture in words, for a screen reader. */
  words(clock) {
    const counts = this.picture.looks.map((words, look) => [this.why.counts[look], words]).filter(([count]) => count);
    const watermark = this.plane.lines.main?.text;
    const parts = [
      clock ? `Processing time ${clock}.` : "Before the first event.",
      watermark ? `Watermark ${watermark}.` : "No watermark yet.",
      `Events: ${counts.map(([count, words]) => `${count} ${words}`).join(", ") || "none yet"}.`,
      "Up and down arrow choose an event; F goes through the firings, M the watermarks, W the windows, K the barriers, each with shift the other way.",
      this.live ? "With shift, another one too; with alt, the arrows move what is chosen; A adds, D duplicates, delete takes out, control Z undoes." : "",
    ];
    return parts.join(" ");
  }

  // ---------------------------------------------------------------- keys and pointer

  key(event) {
    const typing = event.target.closest("input[type=text], select, textarea");
    const sliding = event.target.closest("input[type=range]:not(.wmviz-scrub)");
    const onButton = event.target.closest("button");
    const keys = {
      ArrowLeft: () => this.move(-1, event.shiftKey),
      ArrowRight: () => this.move(1, event.shiftKey),
      Home: () => this.go(-1),
      End: () => this.go(this.picture.steps.length - 1),
      Escape: () => this.closeLife(),
    };
    if (!onButton) keys[" "] = () => this.toggle();
    const onSurface = event.target === this.planeBox || event.target === this.lanesBox;
    const plain = ({ key, ctrlKey, metaKey, altKey }) => (ctrlKey || metaKey || altKey ? null : keys[key]);
    if (onSurface) {
      keys.Enter = () => this.walk.enter();
      for (const [key, kind] of Object.entries(WALKS)) {
        keys[key] = () => this.walk.go(kind, -1);
        keys[key.toUpperCase()] = () => this.walk.go(kind, 1);
      }
      keys.ArrowUp = () => this.choose(1, event.shiftKey);
      keys.ArrowDown = () => this.choose(-1, event.shiftKey);
    }
    event.stopPropagation();
    if (!typing && !sliding && this.predict.open >= 0 && !event.ctrlKey && !event.metaKey && !event.altKey) {
      for (let digit = 1; digit <= 9; digit++) if (this.predict.key(String(digit))) keys[digit] = this.predict.key(String(digit));
    }
    const act = typing ? null : this.live && !sliding ? this.editKey(event, onSurface) ?? plain(event) : plain(event);
    if (!act || (sliding && event.key !== " " && event.key !== "Escape")) return;
    event.preventDefault();
    act();
  }

  /** What a key does to the scenario; null if nothing. */
  editKey(event, onSurface) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      if (key === "z") return () => this.command({ do: event.shiftKey ? "redo" : "undo" });
      return key === "y" ? () => this.command({ do: "redo" }) : null;
    }
    if (!onSurface) return null;
    const chosen = this.host.get("selected") >= 0;
    if (event.altKey) {
      const far = event.shiftKey ? 10 : 1;
      // In the lanes up and down are other partitions.
      const up = event.target === this.lanesBox ? [0, 0, -1] : [0, far, 0];
      const by = { ArrowLeft: [-far, 0, 0], ArrowRight: [far, 0, 0], ArrowUp: up, ArrowDown: up.map((number) => -number) }[event.key];
      return chosen && by ? () => this.nudge(...by) : null;
    }
    if (key === "a") return () => this.addNow();
    const command = { b: "keep", c: "crash", s: "silence" }[key] ?? (chosen ? { d: "duplicate", Delete: "delete", Backspace: "delete" }[key] : null);
    return command ? () => this.command({ do: command }) : null;
  }

  /** Choose the next or the previous event that stands, in order of arrival; or that one too. */
  choose(by, also) {
    const { looks } = this.fates;
    const selected = this.host.get("selected");
    let index = selected < 0 && by < 0 ? looks.length : selected;
    do index += by;
    while (index >= 0 && index < looks.length && looks[index] < 0);
    if (index >= 0 && index < looks.length) also ? this.selectAlso(index) : this.select(index);
  }

  /** What is at a point: a marble, or the row that a flag or a watermark stands for; the closer one. */
  thing(x, y, surface) {
    const close = surface.marbles.nearest(x, y, 9);
    const row = close < 0 ? surface.rowAt?.(x, y) ?? -1 : -1;
    return { row, index: row >= 0 ? -1 : close >= 0 ? close : surface.marbles.nearest(x, y) };
  }

  /** Tell of what the pointer is at. */
  hover(x, y, surface) {
    const { index, row } = this.thing(x, y, surface);
    this.walk.end();
    this.point(index, surface);
    const window = index < 0 && row < 0 ? surface.windowNamedAt?.(x, y) ?? -1 : -1;
    if (!this.sentences || (row < 0 && window < 0)) return;
    if (row >= 0) this.planeBox.style.cursor = "pointer";
    this.bubble.replaceChildren(html("span", { text: row >= 0 ? this.sentences.texts[row] : windowWords(this.picture, window, this.step) }));
    this.bubbleAt(x, y, this.planeBox, surface);
  }

  bubbleAt(x, y, box, surface) {
    this.bubble.hidden = false;
    box.append(this.bubble);
    const left = x > surface.width / 2;
    this.bubble.style.left = left ? "" : `${x + 14}px`;
    this.bubble.style.right = left ? `${box.clientWidth - x + 14}px` : "";
    this.bubble.style.top = `${Math.max(4, y - 20)}px`;
  }

  point(index, surface) {
    for (const other of this.surfaces()) other.rings.point(index);
    const box = surface === this.lanes ? this.lanesBox : this.planeBox;
    box.style.cursor = index < 0 ? "" : "pointer";
    this.bubble.hidden = index < 0;
    if (index < 0) return;
    const [id, , , , tip] = this.picture.events[index];
    const again = this.picture.rewound[index] <= this.step ? ", read again after a restore" : "";
    const fate = (this.picture.looks[this.fates.looks[index]] ?? "still to come") + again;
    this.bubble.replaceChildren(html("strong", { text: id }), html("span", { text: ` ${tip}` }), html("em", { text: fate }));
    this.bubbleAt(...surface.points[index], box, surface);
  }

  /** Mark what a question is about: the event that comes, and the windows that can be clicked; null: nothing. */
  mark(question) {
    for (const surface of this.surfaces()) surface.rings.wonder(question?.event ?? -1);
    this.plane?.offer((question?.choices ?? []).flatMap(({ band }) => band ?? []));
  }

  select(index) {
    this.chooseOnly({ selected: index });
  }

  /** Mark the events of the results that fire under a flag. */
  chooseFiring(row) {
    this.chooseOnly({ firing: row });
  }

  /** Choose one event more, or one less. */
  selectAlso(index) {
    if (index < 0 || !this.live) return this.select(index);
    const [selected, group] = [this.host.get("selected"), this.host.get("group") ?? []];
    const before = group.length ? group : selected >= 0 ? [selected] : [];
    this.chooseGroup(before.includes(index) ? before.filter((other) => other !== index) : [...before, index]);
  }

  /** Choose events together, to be moved, duplicated or deleted together; the last one is in hand. */
  chooseGroup(indexes) {
    this.chooseOnly({ selected: indexes.at(-1) ?? -1 }, indexes.length > 1 ? indexes : []);
  }

  /** One thing is chosen at a time, or a group of events. */
  chooseOnly(chosen, group = []) {
    this.host.set("group", group);
    for (const name of ["selected", "result", "firing"]) this.host.set(name, chosen[name] ?? -1);
    this.host.save();
    this.draw();
  }

  /** Mark the events that a result is made of. */
  chooseResult(index) {
    this.chooseOnly({ result: this.host.get("result") === index ? -1 : index });
  }

  closeLife() {
    this.walk.end();
    this.bubble.hidden = true;
    this.select(-1);
    this.planeBox.focus({ preventScroll: true });
  }
}

function calm() {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches;
}

/** Light or dark: JupyterLab's theme where there is one, else the reader's system. Gives a function that ends it. */
function watchTheme(root, onChange) {
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  const read = () => {
    const lab = document.body.dataset.jpThemeLight;
    root.dataset.theme = (lab === undefined ? system.matches : lab === "false") ? "dark" : "light";
    onChange();
  };
  const watcher = new MutationObserver(read);
  watcher.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
  system.addEventListener("change", read);
  read();
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", read);
  };
}
