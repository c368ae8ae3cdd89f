// The clock of the playhead: from processing time on the stage to time on the wall, and back.

class Player {
  /** Each moment gets the same share of the time plus one by its distance, so that a burst can still be followed. */
  constructor(picture) {
    this.picture = picture;
    const times = picture.moments.map((step) => picture.steps[step]);
    const count = times.length;
    this.times = [count ? Math.min(picture.x.from, times[0]) : 0, ...times];
    const seconds = Math.min(45, Math.max(6, count * 1.1));
    const span = this.times[count] - this.times[0] || 1;
    this.ends = [0];
    for (let nth = 1; nth <= count; nth++) {
      const share = 0.5 / count + (0.5 * (this.times[nth] - this.times[nth - 1])) / span;
      this.ends.push(this.ends[nth - 1] + share * seconds * 1000);
    }
    this.at = 0;
  }

  get done() {
    return this.at >= this.ends[this.ends.length - 1];
  }

  /** Put the clock on a moment; -1 is before the first. */
  seek(moment) {
    this.at = this.ends[moment + 1];
  }

  advance(milliseconds) {
    this.at = Math.min(this.at + milliseconds, this.ends[this.ends.length - 1]);
  }

  /** The moment that stands, and processing time in between. */
  read() {
    const nth = Math.min(lastUpTo(this.ends, this.at), this.ends.length - 1);
    const moment = nth - 1;
    if (nth === this.ends.length - 1) return { moment, now: this.times[nth] };
    const part = (this.at - this.ends[nth]) / (this.ends[nth + 1] - this.ends[nth]);
    return { moment, now: this.times[nth] + part * (this.times[nth + 1] - this.times[nth]) };
  }
}
