// Predict mode: the stage stops before a moment and asks; what is right, and why, has come from Python with the question.

class Predict {
  constructor(stage) {
    this.stage = stage;
    const { questions = [], heading = "", title = "", about = "" } = stage.host.get("predicting") ?? {};
    Object.assign(this, { questions, heading, title, about, open: -1, told: -1 });
    this.score = html("p", { class: "wmviz-score" });
    this.said = html("div", { class: "wmviz-said", role: "status", "aria-live": "polite" });
    this.controls = html("div", { class: "wmviz-answers" });
    this.node = html("section", { class: "wmviz-predict", "aria-label": "Predict" }, this.score, this.said, this.controls);
    this.node.hidden = !this.on;
    this.showStart();
  }

  get on() {
    return this.questions.length > 0;
  }

  get replies() {
    const replies = this.stage.host.get("replies") ?? [];
    return this.questions.map((_, nth) => replies[nth] ?? null);
  }

  /** Whether the rest of the run may be seen: nothing is left to answer behind a step. */
  hides(step) {
    return this.replies.some((reply, nth) => !reply && this.lastStep(nth) > step);
  }

  lastStep(nth) {
    return this.stage.picture.moments[this.questions[nth].moment];
  }

  /** The question, not answered yet, that lies between a step and a later one; -1 if there is none. */
  between(from, to) {
    return this.replies.findIndex((reply, nth) => !reply && from < this.lastStep(nth) && this.firstStep(nth) <= to);
  }

  firstStep(nth) {
    return this.stage.stepOf(this.questions[nth].moment - 1) + 1;
  }

  reply(nth, value) {
    this.stage.host.set("replies", this.replies.map((old, other) => (other === nth ? value : old)));
    this.stage.host.save();
  }

  /** Whoever goes past an open question has skipped it. */
  passed(step) {
    const gone = this.replies.flatMap((reply, nth) => (reply || this.firstStep(nth) > step ? [] : [nth]));
    for (const nth of gone) this.reply(nth, { given: null, right: false });
    if (gone.includes(this.open)) this.tell("Skipped.", this.open);
    else if (gone.length && this.replies.every(Boolean)) {
      // One line, as a question has: the height of a slide is full with it.
      this.say("", html("span", { text: "The rest is skipped. " }), html("strong", { text: this.title }));
      this.offerAgain();
    }
    this.drawScore();
  }

  // ----------------------------------------------------------------------- asking

  ask(nth) {
    if (nth === this.open) return this.controls.querySelector("input, button")?.focus({ preventScroll: true });
    [this.open, this.told] = [nth, -1];
    const { lead, ask, choices } = this.questions[nth];
    this.say("", html("span", { text: `${lead} ` }), html("strong", { text: ask }));
    const answers = choices.length ? choices.map((choice, index) => this.choice(choice, index)) : [this.field()];
    this.offer(...answers, this.button("Skip", () => this.skip(), "Go on without an answer; it does not count as right"));
    this.drawScore();
    this.stage.mark(this.questions[nth]);
  }

  /** Put controls in place; who works with the stage by keyboard goes on at the first one. */
  offer(...controls) {
    const inside = this.stage.root.contains(document.activeElement);
    this.controls.replaceChildren(...controls);
    if (inside) this.controls.querySelector("input, button").focus({ preventScroll: true });
  }

  button(text, act, title) {
    return html("button", { type: "button", text, title, onclick: act });
  }

  choice({ text, look }, index) {
    const button = this.button("", () => this.answer(index), `Answer (${index + 1})`);
    if (look !== undefined) button.append(glyph(look, this.stage.picture.shapes[look]));
    button.append(html("span", { text }));
    return button;
  }

  field() {
    const text = html("input", { type: "text", size: 13, spellcheck: "false", placeholder: "6:59:59.999", "aria-label": "The watermark, as a time" });
    const send = (event) => {
      event.preventDefault();
      if (text.value.trim()) this.answer(text.value);
    };
    return html("form", { class: "wmviz-answer-form", onsubmit: send }, text, html("button", { type: "submit", text: "Answer" }));
  }

  /** A click on the picture answers, if a choice stands for what is there. */
  click(x, y) {
    if (this.open < 0) return false;
    const { choices } = this.questions[this.open];
    const index = choices.findIndex(({ band }) => band !== undefined && this.stage.plane.inBand(band, x, y));
    if (index >= 0) this.answer(index);
    return index >= 0;
  }

  key(key) {
    const { choices = [] } = this.questions[this.open] ?? {};
    const index = Number(key) - 1;
    return index >= 0 && index < choices.length ? () => this.answer(index) : null;
  }

  // ---------------------------------------------------------------------- telling

  answer(given) {
    const nth = this.open;
    const { answer, spellings, slips, choices } = this.questions[nth];
    const written = typeof given === "string" ? given.trim().toLowerCase() : given;
    const right = choices.length ? given === answer : spellings.includes(written);
    this.reply(nth, { given, right });
    const said = choices.length ? choices[given].text : given.trim();
    const was = choices.length ? choices[answer].text : answer;
    const verdict = right ? `Right: ${was}.` : `Not so. You said ${said}; it is ${was}. ${slips[written] ?? ""}`;
    this.stage.go(this.lastStep(nth));
    this.tell(verdict, nth, right);
  }

  skip() {
    const nth = this.open;
    this.stage.go(this.lastStep(nth));
    this.tell("Skipped.", nth);
  }

  tell(verdict, nth, right = null) {
    [this.open, this.told] = [-1, nth];
    const sign = right === null ? "" : right ? "wmviz-right" : "wmviz-wrong";
    this.say(sign, html("strong", { text: `${verdict} ` }), html("span", { text: this.questions[nth].why }));
    const left = this.replies.filter((reply) => !reply).length;
    if (left) this.offer(this.button("Play on", () => this.playOn(), "Play to the next question (space)"));
    else this.finish();
    this.stage.mark(null);
    this.drawScore();
  }

  playOn() {
    if (!this.stage.playing) this.stage.toggle();
    this.stage.planeBox.focus({ preventScroll: true });
  }

  finish() {
    const right = this.replies.filter((reply) => reply?.right).length;
    const { title, about } = this;
    this.said.append(html("p", { class: "wmviz-finished", text: `All asked: ${right} of ${this.questions.length} right.` }));
    this.said.append(html("p", { class: "wmviz-more" }, html("strong", { text: title }), html("span", { text: about && ` ${about}` })));
    this.offerAgain();
  }

  offerAgain() {
    this.offer(this.button("Again", () => this.again(), "The same questions from the start"));
  }

  again() {
    this.stage.host.set("replies", this.questions.map(() => null));
    this.stage.host.save();
    [this.open, this.told] = [-1, -1];
    this.showStart();
    this.stage.go(-1);
    this.stage.planeBox.focus({ preventScroll: true });
  }

  showStart() {
    this.say("", html("span", { text: `Play, or step forward: the stage stops ${this.questions.length === 1 ? "once" : `${this.questions.length} times`} and asks what comes next.` }));
    this.controls.replaceChildren();
    this.drawScore();
  }

  say(sign, ...nodes) {
    this.said.className = `wmviz-said ${sign}`;
    this.said.replaceChildren(html("p", {}, ...nodes));
  }

  drawScore() {
    const given = this.replies.filter(Boolean);
    const right = given.filter(({ right }) => right).length;
    const skipped = given.filter(({ given }) => given === null).length;
    const at = this.open >= 0 ? `Question ${this.open + 1} of ${this.questions.length}` : `Predict: ${this.questions.length - given.length} to come`;
    this.score.textContent = [at, given.length ? `${right} right of ${given.length}` : "", skipped ? `${skipped} skipped` : ""].filter(Boolean).join(" · ");
  }
}
