// Taking hold of the scenario: the tools, and the hand that drags a marble. What comes of it, Python says.

const TOOLS = [
  { name: "add", text: "Add", title: "Add an event: press, then click where it belongs (A: at the playhead)" },
  { name: "duplicate", text: "Duplicate", title: "Another event like the chosen one, or another burst like the chosen ones, a little later (D)", chosen: true },
  { name: "delete", text: "Delete", title: "Take the chosen events out (Delete)", chosen: true },
  { name: "crash", text: "Crash here", title: "The job crashes at the playhead (C)" },
  { name: "silence", text: "Silence", title: "The partition of the chosen event delivers nothing for a while, from the playhead on (S)" },
  {},
  { name: "undo", text: "Undo", title: "Undo (Ctrl Z)" },
  { name: "redo", text: "Redo", title: "Redo (Ctrl Shift Z)" },
  { name: "reset", text: "Reset", title: "Back to what the stage began with" },
  {},
  { name: "keep", text: "Keep as B", title: "Keep what is on the stage as variant B, and see both" },
  { name: "swap", text: "Swap A and B", title: "Put variant B on the stage, and what is there in its place" },
  { name: "drop", text: "Drop B", title: "Forget variant B" },
  {},
  { name: "code", text: "Python", title: "This scenario as Python code" },
  { name: "json", text: "JSON", title: "Save this scenario as a JSON file" },
  { name: "open", text: "Open…", title: "Open a scenario from a JSON file" },
  { name: "page", text: "HTML", title: "Save as a page that plays without a kernel" },
];

class Editor {
  constructor(onTool, onOpen) {
    this.adding = false;
    this.buttons = new Map(TOOLS.filter(({ name }) => name).map((tool) => [tool.name, { tool, button: html("button", { type: "button", class: "wmviz-tool", title: tool.title, text: tool.text, onclick: () => onTool(tool.name) }) }]));
    this.file = html("input", { type: "file", accept: ".json,application/json", "aria-label": "A scenario in a JSON file", onchange: () => this.read(onOpen) });
    this.file.hidden = true;
    this.code = html("textarea", { class: "wmviz-code", readonly: true, rows: 8, spellcheck: "false", "aria-label": "This scenario as Python code" });
    this.said = html("p", { class: "wmviz-more", role: "status" });
    this.codeBox = html("div", {}, this.code, this.said, html("button", { type: "button", class: "wmviz-tool", text: "Close", onclick: () => this.hideCode() }));
    this.codeBox.hidden = true;
    const buttons = TOOLS.map(({ name }) => (name ? this.buttons.get(name).button : html("span", { class: "wmviz-gap" })));
    this.node = html("div", { class: "wmviz-editor" }, html("div", { class: "wmviz-toolbar", role: "group", "aria-label": "Change the scenario" }, ...buttons, this.file), this.codeBox);
  }

  show(can, selected) {
    for (const { tool, button } of this.buttons.values()) {
      button.disabled = tool.chosen ? selected < 0 : can[tool.name] === false;
      if (tool.name === "swap" || tool.name === "drop") button.hidden = !can.drop;
    }
    this.buttons.get("add").button.setAttribute("aria-pressed", this.adding);
  }

  async read(onOpen) {
    const [file] = this.file.files;
    this.file.value = "";
    if (file) onOpen(await file.text());
  }

  async showCode(text) {
    this.code.value = text;
    this.codeBox.hidden = false;
    this.code.focus();
    this.code.select();
    try {
      await navigator.clipboard.writeText(text);
      this.said.textContent = "Copied.";
    } catch {
      this.said.textContent = "Copy it with Ctrl C.";
    }
  }

  hideCode() {
    this.codeBox.hidden = true;
    this.buttons.get("code").button.focus();
  }
}

const DRAG_FROM = 4; // px that the hand must move before a press is a drag

/** The hand on one part of the stage: a press and release chooses, a press and move drags. */
class Hand {
  constructor(stage, box) {
    this.stage = stage;
    this.box = box;
    box.addEventListener("pointerdown", (event) => this.down(event));
    box.addEventListener("pointermove", (event) => this.move(event));
    box.addEventListener("pointerup", (event) => this.up(event));
    box.addEventListener("pointercancel", () => this.drop());
    box.addEventListener("pointerleave", () => this.held || stage.point(-1, this.surface));
  }

  get surface() {
    return this.stage.surface(this.box);
  }

  at(event) {
    const box = this.surface.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  down(event) {
    if (event.button !== 0 || !this.surface) return;
    const [x, y] = this.at(event);
    const { index, row } = this.stage.thing(x, y, this.surface);
    const [px, py] = index < 0 ? [x, y] : this.surface.points[index];
    this.held = { index, row, x, y, dx: px - x, dy: py - y, also: event.shiftKey, moving: false, gesture: `drag ${event.timeStamp}` };
    if ((index >= 0 || event.shiftKey) && this.stage.live) this.box.setPointerCapture(event.pointerId);
  }

  move(event) {
    const [x, y] = this.at(event);
    const { held } = this;
    if (!held) return this.stage.hover(x, y, this.surface);
    if ((held.index < 0 && !held.also) || !this.stage.live) return;
    if (!held.moving && Math.hypot(x - held.x, y - held.y) < DRAG_FROM) return;
    if (held.also) return this.span(held, x, y);
    if (!held.moving && !(this.stage.host.get("group") ?? []).includes(held.index)) this.stage.select(held.index);
    else if (!held.moving) this.stage.chooseGroup([...this.stage.host.get("group").filter((index) => index !== held.index), held.index]);
    held.moving = true;
    const target = this.surface.target(x + held.dx, y + held.dy);
    this.surface.rings.ghost(x + held.dx, y + held.dy);
    const same = JSON.stringify(target);
    if (same === held.sent) return;
    held.sent = same;
    this.stage.command({ do: "move", ...target, gesture: held.gesture });
  }

  /** With shift, a drag draws a box: the marbles in it are chosen together. */
  span(held, x, y) {
    held.moving = true;
    held.box = { x: Math.min(x, held.x), y: Math.min(y, held.y), w: Math.abs(x - held.x), h: Math.abs(y - held.y) };
    this.surface.rings.frame(held.box);
  }

  up(event) {
    const { held } = this;
    this.drop();
    if (held?.box) return this.stage.chooseGroup(this.surface.marbles.inside(held.box));
    if (!held || held.moving) return;
    if (held.also && held.index >= 0) return this.stage.selectAlso(held.index);
    if (this.surface === this.stage.plane && this.stage.predict.click(...this.at(event))) return;
    if (this.stage.editor.adding) return this.stage.add(this.surface.target(...this.at(event)));
    if (held.row >= 0) this.stage.go(this.stage.why.stepOf(held.row));
    if (this.stage.plane.flags.has(held.row)) this.stage.chooseFiring(held.row);
    else this.stage.select(held.index);
  }

  drop() {
    if (this.held?.moving) this.stage.point(-1, this.surface);
    this.held = null;
    for (const { rings } of this.stage.surfaces()) {
      rings.ghost(null);
      rings.frame(null);
    }
  }
}
