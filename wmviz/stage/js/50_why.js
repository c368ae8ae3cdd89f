// Why: the sentences of the moment, the life of a chosen event, and the ledger that always balances.

class Why {
  constructor({ live, onJump, onClose, onSelect }) {
    Object.assign(this, { live, onJump, onClose, onSelect });
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
      row.hidden = look === LOST && !picture.event_looks.some((looks) => looks.some((value, at) => at % 2 && value === LOST));
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
      step < 0 ? "Before the first event" : `${clock} · moment ${grouped(moment + 1)} of ${grouped(picture.moments.length)}${fine ? `, step ${grouped(step + 1)}` : ""}`;
    if (!sentences) return;
    this.list.replaceChildren(...this.sentences(step, moment, fine, sentences));
    this.scroll.scrollTop = 0;
    const head = this.livesOf ? null : this.list.querySelector(".wmviz-head");
    const hidden = head ? head.offsetTop + head.offsetHeight - this.scroll.offsetTop - this.scroll.clientHeight : 0;
    if (hidden > 0) this.scroll.scrollTop = hidden;
  }

  sentences(step, moment, fine, sentences) {
    const { picture } = this;
    if (!picture.moments.length) return [html("li", { class: "wmviz-head", text: "No event arrives, so nothing happens." })];
    if (step < 0) return [
        html("li", { class: "wmviz-head", text: "Press play, or step forward: → goes to the next moment, shift → one step further." }),
        html("li", { text: "Point at a marble, a line, a flag or the name of a window to see what it is; click a marble for its whole life, a flag for its events." }),
        ...(this.live ? [html("li", { text: "Drag a marble: across it arrives at another time, up and down it happened at another time. With alt, the arrow keys do that. With shift, several are chosen, by click or by a box." })] : []),
      ];
    const { texts } = sentences;
    const first = picture.first_rows[picture.moments[moment - 1] + 1 || 0];
    const [head, leftOut, ...told] = fine ? [-1, 0] : sentences.moments[moment];
    const rows = fine ? range(picture.first_rows[step], picture.first_rows[step + 1]) : told.map((row) => first + row);
    const items = rows.map((row) => html("li", { class: row === first + head ? "wmviz-head" : "", text: texts[row] }));
    if (leftOut) items.push(html("li", { class: "wmviz-left-out", text: `… and ${grouped(leftOut)} more like these.` }));
    return items.length ? items : [html("li", { text: "Nothing changes in this step." })];
  }

  drawLedger(step) {
    this.rows.forEach(({ row, number }, look) => {
      number.textContent = grouped(this.counts[look]);
      row.classList.toggle("wmviz-zero", this.counts[look] === 0);
    });
    const arrived = this.counts.reduce((sum, count) => sum + count, 0);
    this.total.textContent = grouped(arrived);
    const pair = this.picture.pairs[lastUpTo(this.pairSteps, step)];
    const seen = this.picture.seen[lastUpTo(this.seenSteps, step)];
    const parts = [];
    const [once, more] = seen?.slice(1) ?? [0, 0];
    if (arrived) parts.push(`A reader of the sink counts ${grouped(once)} of them once, ${grouped(more)} more than once, ${grouped(arrived - once - more)} not at all.`);
    if (pair) parts.push(`Pairs of event and window: ${grouped(pair[1])} accepted, ${grouped(pair[2])} silently missed.`);
    this.more.textContent = parts.join(" ");
  }

  /** The life of an event, or the events of a result; what is still to come at this step is dimmed. */
  drawChosen({ selected, result, firing }, step, sentences, hides) {
    if (!sentences) return;
    const { picture } = this;
    this.life.hidden = selected < 0 && result < 0 && firing < 0;
    // The same is not written again: a button in it may have the focus.
    const key = selected >= 0 ? [picture.events[selected], sentences] : result >= 0 ? [picture, result, String(membersOf(picture.results[result], step))] : firing >= 0 ? [picture, "firing", firing] : null;
    if (key?.some((part, nth) => part !== this.livesOf?.[nth]) ?? true) {
      this.scroll.scrollTop = 0;
      if (selected >= 0) this.writeLife(selected, sentences.texts);
      else if (result >= 0) this.writeResult(picture.results[result], step);
      else if (firing >= 0) this.writeFiring(firing, sentences.texts);
      else this.life.replaceChildren();
    }
    this.livesOf = key;
    if (selected < 0) return;
    picture.lives[selected].forEach((row, nth) => {
      const later = this.stepOf(row) > step;
      this.lifeItems[nth].classList.toggle("wmviz-later", later);
      this.lifeItems[nth].hidden = later && hides;
    });
    const late = picture.late_from[selected];
    if (this.since) this.since.hidden = hides && (picture.lives[selected].some((row) => this.stepOf(row) > step) || this.stepOf(late) > step);
  }

  stepOf(row) {
    return lastUpTo(this.picture.first_rows, row);
  }

  title(text) {
    const close = html("button", { type: "button", class: "wmviz-close", "aria-label": "Close", title: "Close (Escape)", onclick: () => this.onClose() }, icon("close"));
    return html("div", { class: "wmviz-life-head" }, html("h4", { text }), close);
  }

  /** A click on a sentence jumps to its moment. */
  jump(row, text, title) {
    return html("button", { type: "button", text, title, onclick: () => this.onJump(this.stepOf(row)) });
  }

  writeLife(index, texts) {
    const { picture } = this;
    const [id, , , , tip] = picture.events[index];
    this.lifeItems = picture.lives[index].map((row) => html("li", {}, this.jump(row, texts[row], "Go to this moment")));
    const late = picture.late_from[index];
    this.since = late === undefined ? null : html("p", { class: "wmviz-since" }, this.jump(late, "Go to the moment from which it was late", texts[late]));
    const since = this.since ? [this.since] : [];
    this.life.replaceChildren(this.title(`The life of ${id}`), html("p", { class: "wmviz-tip", text: tip }), ...since, html("ol", {}, ...this.lifeItems));
  }

  writeResult(result, step) {
    const members = membersOf(result, step);
    const count = `${members.length} event${members.length === 1 ? "" : "s"}`;
    this.life.replaceChildren(this.title(`${result.key}, ${this.picture.bands[result.band].label}: ${count}`), this.members(members));
  }

  writeFiring(row, texts) {
    const { label, words } = flagOf(this.picture, row);
    const about = html("p", { class: "wmviz-since" }, this.jump(row, texts[row], "Go to this moment"));
    this.life.replaceChildren(this.title(`${label} ${words}`), about, this.members(firedMembers(this.picture, row)));
  }

  /** Events, each with a way to its life. */
  members(indexes) {
    const items = indexes.map((index) => {
      const [id, , , , tip] = this.picture.events[index];
      return html("li", {}, html("button", { type: "button", text: `${id}: ${tip}`, title: "The life of this event", onclick: () => this.onSelect(index) }));
    });
    return html("ol", {}, ...items);
  }
}

/** The flag that a row stands for. */
function flagOf(picture, row) {
  for (const [band, { label, fires }] of picture.bands.entries()) {
    const fire = fires.find(([, , , other]) => other === row);
    if (fire) return { band, label, step: fire[0], words: fire[2] };
  }
  return null;
}

/** The events of all results that fire under a flag. */
function firedMembers(picture, row) {
  const flag = flagOf(picture, row);
  if (!flag) return [];
  const at = picture.steps[flag.step];
  const fired = picture.results.filter(({ band, changes }) => band === flag.band && changes.some(([step, , , count], nth) => step >= flag.step && picture.steps[step] === at && count > (changes[nth - 1]?.[3] ?? 0)));
  return [...new Set(fired.flatMap((result) => membersOf(result, lastUpTo(picture.steps, at))))].sort((a, b) => a - b);
}

function range(from, end) {
  return Array.from({ length: Math.max(0, end - from) }, (_, index) => from + index);
}
