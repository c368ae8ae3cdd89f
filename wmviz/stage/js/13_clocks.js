// What every clock of the run shows at a step: its watermark, its status, and who holds it back.

class Clockwork {
  constructor(picture) {
    this.picture = picture;
    this.clocks = picture.watermarks.map((clock) => {
      const [valueSteps, values] = unzip(clock.values);
      const [statusSteps, statuses] = unzip(clock.status);
      const inputs = picture.watermarks.flatMap(({ into }, index) => (picture.watermarks[into] === clock ? [index] : []));
      return { ...clock, valueSteps, values, statusSteps, statuses, heldSteps: clock.held.map(([step]) => step), inputs };
    });
  }

  at(index, step) {
    const clock = this.clocks[index];
    const nth = lastUpTo(clock.valueSteps, step);
    const [y, text] = nth < 0 ? [null, ""] : this.picture.times[clock.values[nth]];
    const status = clock.statuses[lastUpTo(clock.statusSteps, step)] ?? 0;
    return { y, text, status, holds: clock.into !== null && this.holders(clock.into, step).includes(index) };
  }

  holders(index, step) {
    const { held, heldSteps } = this.clocks[index];
    return held[lastUpTo(heldSteps, step)]?.[1] ?? [];
  }

  /** The names of the inputs that hold a clock back; what one source combines holds its only reader back too. */
  heldBy(index, step) {
    const sources = this.clocks.filter(({ role }) => role === "source");
    const combiner = this.clocks[index].inputs.length || sources.length > 1 ? this.clocks[index] : sources[0];
    return combiner?.held[lastUpTo(combiner.heldSteps, step)]?.[2] ?? "";
  }

  /** Every change of a clock: where it stands from a step on. */
  points(index) {
    const { valueSteps, statusSteps } = this.clocks[index];
    const steps = [...new Set([...valueSteps, ...statusSteps])].sort((a, b) => a - b);
    const { rows } = this.clocks[index];
    return steps.map((step) => ({ step, x: this.picture.steps[step], row: rows[lastUpTo(valueSteps, step)] ?? -1, ...this.at(index, step) }));
  }

  /** The name of an input as its combiner sees it: a channel goes by the source at its beginning. */
  inputName(index) {
    return this.clocks[index].name.split(" → ")[0];
  }
}

// Idle: a pause sign; left out: a triangle; ended: a stop sign.
const STATUS_SIGNS = ["", "M-3.5 -4.5V4.5M3.5 -4.5V4.5", "M0 -5L5 4H-5Z", "M-4 -4H4V4H-4Z"];
const PAUSED = 4; // by watermark alignment

/** The words for an input at a step, colour left aside. */
function inputWords(clockwork, index, { status, holds }) {
  const into = clockwork.clocks[clockwork.clocks[index].into];
  const whom = into?.role === "source" && clockwork.clocks.some(({ role }) => role === "channel") ? into.name : "it";
  return [status ? clockwork.picture.statuses[status] : "", holds ? `holds ${whom} back` : ""].filter(Boolean).join(", ");
}
