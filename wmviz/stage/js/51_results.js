// The table of results: key × window, with what the window holds and what the sink shows.

class Results {
  constructor(onChoose) {
    this.onChoose = onChoose;
    this.body = html("tbody");
    this.head = html("tr");
    this.note = html("p", { class: "wmviz-more" });
    this.table = html("table", {}, html("thead", {}, this.head), this.body);
    this.scroll = html("div", { class: "wmviz-scroll", tabindex: "0", role: "region", "aria-label": "Results by window and key" }, this.table);
    this.node = html("section", { class: "wmviz-results" }, this.scroll, this.note);
  }

  show(picture) {
    const unit = picture.unit ? ` (${picture.unit})` : "";
    const head = ["key", `holds${unit}`, `in the sink${unit}`, "firings", "status"];
    this.head.replaceChildren(...head.map((text) => html("th", { scope: "col", text })));
    this.timeline = new Timeline();
    this.body.replaceChildren();
    let before = null;
    this.chosen = -1;
    this.rows = picture.results.map((result, index) => {
      if (result.band !== before) this.group(picture.bands[result.band]);
      before = result.band;
      return this.row(result, index);
    });
    const left = picture.results_left_out;
    this.note.textContent = left ? `${left.toLocaleString("en")} more rows are not shown.` : "";
  }

  /** The head of a window's rows: they stand from when the window first holds something. */
  group({ label, states }) {
    const state = html("span", { class: "wmviz-more" });
    const row = html("tr", { class: "wmviz-group" }, html("th", { scope: "rowgroup", colspan: 5 }, html("strong", { text: label }), state));
    row.hidden = true;
    this.body.append(row);
    this.timeline.add(states.map(([step]) => step), (stands) => {
      row.hidden = stands < 0;
      if (stands >= 0) state.textContent = ` ${states[stands][2]}`;
    });
  }

  row({ key, changes }, index) {
    const cells = Array.from({ length: 4 }, () => html("td"));
    const [holds, shows, firings, status] = cells;
    const [bar, value, lead] = [html("span", { class: "wmviz-bar" }), html("span"), html("span", { class: "wmviz-lead" })];
    const apart = html("span", { class: "wmviz-apart" });
    shows.append(bar, value, lead, apart);
    shows.className = "wmviz-shows";
    holds.className = firings.className = "wmviz-number";
    const row = html("tr", {}, html("td", {}, html("button", { type: "button", class: "wmviz-of", title: "Mark the events that this is made of", text: key, onclick: () => this.onChoose(index) })), ...cells);
    row.hidden = true;
    this.body.append(row);
    const steps = changes.map(([step]) => step);
    this.timeline.add(steps, (stands) => {
      row.hidden = stands < 0;
      if (stands < 0) return;
      const [, running, written, count, state, share, leads, uncommitted] = changes[stands];
      holds.textContent = running || "–";
      value.textContent = written || "–";
      bar.style.width = `${Math.round(share * 100)}%`;
      lead.textContent = leads ? "highest" : "";
      apart.textContent = uncommitted;
      firings.textContent = count;
      status.textContent = state;
      row.dataset.status = state;
      row.classList.toggle("wmviz-leads", leads === 1);
    });
    return row;
  }

  draw(step, chosen) {
    this.timeline.go(step);
    if (chosen === this.chosen) return;
    this.rows[this.chosen]?.classList.remove("wmviz-chosen");
    this.rows[chosen]?.classList.add("wmviz-chosen");
    this.chosen = chosen;
  }
}

/** The events that a result is made of at a step. */
function membersOf({ made }, step) {
  let members = [];
  for (const [at, keep, ...events] of made) {
    if (at > step) break;
    members = [...members.slice(0, keep), ...events];
  }
  return members;
}
