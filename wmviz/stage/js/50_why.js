// Why: the sentences of the moment, the life of a chosen event, and the ledger that always balances.

class Why {
  constructor(onJump, onClose) {
    this.onJump = onJump;
    this.onClose = onClose;
    this.head = html("p", { class: "wmviz-when" });
    this.list = html("ol", { class: "wmviz-sentences", "aria-live": "polite" });
    this.ledger = html("div", { class: "wmviz-ledger", role: "list", "aria-label": "Ledger: where every arrived event is" });
    this.life = html("div", { class: "wmviz-life", "aria-live": "polite" });
    this.scroll = html("div", { class: "wmviz-told", tabindex: "0", role: "region", "aria-label": "What happens, and why" }, this.life, this.list);
    this.node = html("section", { class: "wmviz-why", "aria-label": "Why" }, html("div", { class: "wmviz-why-box" }, this.head, this.scroll, this.ledger));
  }

  show(picture) {
    this.picture = picture;
    this.counts = new Array(picture.looks.length).fill(0);
    this.ledger.replaceChildren();
    this.rows = picture.looks.map((words, look) => {
      const number = html("span", { class: "wmviz-count", text: "0" });
      const name = html("span", { class: "wmviz-words" }, glyph(look, picture.shapes[look]), html("span", { text: words }));
      const row = html("div", { class: "wmviz-fate", role: "listitem" }, name, number);
      this.ledger.append(row);
      return { row, number };
    });
    this.total = html("span", { class: "wmviz-count", text: "0" });
    const arrived = html("span", { class: "wmviz-words", text: "arrived" });
    this.ledger.append(html("div", { class: "wmviz-fate wmviz-total", role: "listitem" }, arrived, this.total));
    this.more = html("p", { class: "wmviz-more" });
    this.ledger.append(html("div", { class: "wmviz-seen", role: "listitem" }, this.more));
    this.pairSteps = picture.pairs.map(([step]) => step);
    this.seenSteps = picture.seen.map(([step]) => step);
  }

  count(look, before) {
    if (before >= 0) this.counts[before]--;
    if (look >= 0) this.counts[look]++;
  }

  /** Tell a moment, or in fine steps a single step. */
  draw(step, moment, fine, clock, sentences, playing) {
    this.list.setAttribute("aria-live", playing ? "off" : "polite");
    this.drawLedger(step);
    const { picture } = this;
    this.head.textContent =
      step < 0 ? "Before the first event" : `${clock} · moment ${moment + 1} of ${picture.moments.length}${fine ? `, step ${step + 1}` : ""}`;
    if (!sentences) return;
    this.list.replaceChildren(...this.sentences(step, moment, fine, sentences));
    this.scroll.scrollTop = 0;
    const head = this.livesOf ? null : this.list.querySelector(".wmviz-head");
    const hidden = head ? head.offsetTop + head.offsetHeight - this.scroll.offsetTop - this.scroll.clientHeight : 0;
    if (hidden > 0) this.scroll.scrollTop = hidden;
  }

  sentences(step, moment, fine, sentences) {
    const { picture } = this;
    if (step < 0) return [
        html("li", { class: "wmviz-head", text: "Press play, or step forward: → goes to the next moment, shift → one step further." }),
        html("li", { text: "Point at a marble to see what it is; click it for its whole life." }),
      ];
    const told = picture.told[moment];
    const [head, leftOut] = fine ? [-1, 0] : told;
    const rows = fine ? range(picture.first_rows[step], picture.first_rows[step + 1]) : told.slice(2);
    const items = rows.map((row) => html("li", { class: row === head ? "wmviz-head" : "", text: sentences[row] ?? "…" }));
    if (leftOut) items.push(html("li", { class: "wmviz-left-out", text: `… and ${leftOut} more like these.` }));
    return items.length ? items : [html("li", { text: "Nothing changes in this step." })];
  }

  drawLedger(step) {
    this.rows.forEach(({ row, number }, look) => {
      number.textContent = this.counts[look];
      row.classList.toggle("wmviz-zero", this.counts[look] === 0);
    });
    const arrived = this.counts.reduce((sum, count) => sum + count, 0);
    this.total.textContent = arrived;
    const pair = this.picture.pairs[lastUpTo(this.pairSteps, step)];
    const seen = this.picture.seen[lastUpTo(this.seenSteps, step)];
    const parts = [];
    const [once, more] = seen?.slice(1) ?? [0, 0];
    if (arrived) parts.push(`In the sink's results: ${once} once, ${more} more than once, ${arrived - once - more} not.`);
    if (pair) parts.push(`Pairs of event and window: ${pair[1]} accepted, ${pair[2]} silently missed.`);
    this.more.textContent = parts.join(" ");
  }

  /** The life of an event; what is still to come at this step is dimmed. A click jumps to that moment. */
  drawLife(index, step, sentences) {
    if (!sentences) return;
    this.life.hidden = index < 0;
    const told = index < 0 ? null : [this.picture.events[index], sentences];
    // The same life is not written again: a button in it may have the focus.
    if (told?.some((part, nth) => part !== this.livesOf?.[nth]) ?? true) this.writeLife(index, sentences);
    this.livesOf = told;
    if (told) this.picture.lives[index].forEach((row, nth) => this.lifeItems[nth].classList.toggle("wmviz-later", this.stepOf(row) > step));
  }

  stepOf(row) {
    return lastUpTo(this.picture.first_rows, row);
  }

  writeLife(index, sentences) {
    if (index < 0) return this.life.replaceChildren();
    this.scroll.scrollTop = 0;
    const { picture } = this;
    const [id, , , , tip] = picture.events[index];
    const items = picture.lives[index].map((row) => {
      const jump = () => this.onJump(this.stepOf(row));
      return html("li", {}, html("button", { type: "button", text: sentences[row] ?? "…", title: "Go to this moment", onclick: jump }));
    });
    this.lifeItems = items;
    const close = html("button", { type: "button", class: "wmviz-close", "aria-label": "Close the life of this event", onclick: () => this.onClose() }, icon("close"));
    const head = html("div", { class: "wmviz-life-head" }, html("h4", { text: `The life of ${id}` }), close);
    this.life.replaceChildren(head, html("p", { class: "wmviz-tip", text: tip }), html("ol", {}, ...items));
  }
}

function range(from, end) {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index);
}
