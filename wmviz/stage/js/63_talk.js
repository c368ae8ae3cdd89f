// What the reader wants goes to Python one at a time, and waits for the answer.

class Talk {
  constructor(host, { onSend, onAnswer }) {
    Object.assign(this, { host, onSend, onAnswer });
    this.wishes = [];
    this.serial = 0;
  }

  /** A newer wish of the same parameter or drag takes the place of one that waits. */
  ask(wish) {
    const last = this.wishes.at(-1);
    if (last && last.key !== undefined && last.key === wish.key) this.wishes.pop();
    this.wishes.push(wish);
    if (!this.waiting) this.send();
  }

  command(command) {
    this.serial += 1;
    // Steps by the keyboard add up: none may be left out.
    const key = command.by ? undefined : command.gesture;
    this.ask({ key, name: "command", value: { ...command, serial: this.serial } });
  }

  send() {
    const { name, value } = this.wishes.shift();
    if (this.host.get(name) === value) {
      this.onAnswer("");
      if (this.wishes.length) this.send();
      return;
    }
    this.waiting = true;
    this.onSend();
    this.host.set(name, value);
    this.host.save();
  }

  answered() {
    this.waiting = false;
    this.onAnswer(this.host.get("problem"));
    if (this.wishes.length) this.send();
  }
}
