// Marks and the steps at which they change. Going from one step to another touches only the marks that change between.

/** The position of the last entry of a sorted list that is not above a value; -1 if there is none. */
function lastUpTo(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] <= value) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

class Timeline {
  constructor() {
    this.step = -1;
    this.marks = [];
    this.changes = new Map();
  }

  /** Add a mark: show(n) is called with the number of the change that stands, -1 for none. */
  add(steps, show) {
    const mark = { steps, show, stands: -1 };
    this.marks.push(mark);
    for (const step of steps) {
      if (!this.changes.has(step)) this.changes.set(step, []);
      this.changes.get(step).push(mark);
    }
  }

  go(step) {
    const touched = new Set();
    const [low, high] = step > this.step ? [this.step, step] : [step, this.step];
    for (let at = low + 1; at <= high; at++) {
      for (const mark of this.changes.get(at) ?? []) touched.add(mark);
    }
    this.step = step;
    for (const mark of touched) {
      const stands = lastUpTo(mark.steps, step);
      if (stands !== mark.stands) {
        mark.show(stands, mark.stands);
        mark.stands = stands;
      }
    }
  }
}

/** Split [step, value, step, value…] into two lists. */
function unzip(pairs) {
  return [pairs.filter((_, index) => index % 2 === 0), pairs.filter((_, index) => index % 2 === 1)];
}
