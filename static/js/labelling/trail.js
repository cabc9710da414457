// What this browser knows better than a page that was fetched before the last answers reached the server: how items
// stand, which answers were refused, and so which item comes next.
const CLOSED = ["done", "skipped"];

export class Trail {
  constructor() {
    this.states = new Map(); // of items, by task: {state, at}; `at` is Infinity until the server has answered
    this.refused = new Map(); // acts with their reason, by task
  }

  leave(task, state) { this.states.set(task, { state, at: Infinity }); }
  settle(task, state) { this.states.set(task, { state, at: performance.now() }); }
  refuse(task, act, reason) {
    this.states.delete(task);
    this.refused.set(task, { act, reason });
  }
  // The refused act of an item, once.
  takeRefused(task) {
    const found = this.refused.get(task);
    this.refused.delete(task);
    return found;
  }

  // An item's state, if it is newer than a page.
  newer(task, fetchedAt) {
    const known = this.states.get(task);
    return known && known.at > fetchedAt ? known.state : undefined;
  }

  // Where to go on from an item: to one whose answer was refused, else to the next open one, else where the server says.
  next(config, fetchedAt) {
    const [refused] = this.refused.values();
    return refused?.act.page ?? this.ahead(config, fetchedAt)[0] ?? config.urls.end;
  }
  // The addresses of the open items to go on to, in order.
  ahead(config, fetchedAt) {
    return config.onward.filter(({ task }) => !CLOSED.includes(this.newer(task, fetchedAt))).map(({ url }) => url);
  }

  // Bring the list of numbers up to date; gives how many more of the other items are done, and open, than the page says.
  redraw(root, config, fetchedAt) {
    const more = { done: 0, open: 0 };
    for (const link of root.querySelectorAll("[data-task]")) {
      const { task, state: was } = link.dataset, state = this.newer(task, fetchedAt);
      if (!state || state === was) continue;
      if (task !== config.task) {
        more.done += (state === "done") - (was === "done");
        more.open += CLOSED.includes(was) - CLOSED.includes(state);
      }
      link.classList.replace(`is-${was}`, `is-${state}`);
      link.dataset.state = state;
      link.querySelector("[data-state-name]").textContent = config.states[state];
      link.title = config.states[state];
    }
    for (const step of config.onward) { // those without a number here, as the examples of a trial
      if (root.querySelector(`[data-task="${step.task}"]`)) continue;
      const { state: was } = step, state = this.newer(step.task, fetchedAt) ?? was;
      more.done += (state === "done") - (was === "done");
      more.open += CLOSED.includes(was) - CLOSED.includes(state);
      step.state = state;
    }
    return more;
  }
}
