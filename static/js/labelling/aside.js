// Flag, comment and skip: plain forms, sent without leaving the page where that is enough.
import { targetOf } from "../keys.js";
import { request } from "../talk.js";
import { fieldOf } from "./outbox.js";

export function startAside(root, { config, find, text, say, on, send, leaveBy, skipped }) {
  const { urls } = config, menu = find("menu");
  const close = () => { for (const each of root.querySelectorAll("details.over")) each.open = false; };
  const has = (target) => target.closest("details.over[open]");
  on(document, "click", (event) => { for (const each of root.querySelectorAll("details.over[open]")) if (!each.contains(targetOf(event))) each.open = false; });
  if (!find("flag")) return { keys: {}, kept() {}, keepTyped() {}, close, has, choose() {}, retry() {} };

  const button = find("flag"), comment = root.querySelector("#comment");
  const wish = { flag: button.getAttribute("aria-pressed") === "true" ? "1" : "0", comment: comment.defaultValue };
  const stored = { ...wish }; // by the server's word
  let refusedWords = null;
  const isTyped = () => comment.value.trim() !== wish.comment.trim();

  // The newest wish shows at once; the server gets them in order and confirms them in words. Only what changed is sent:
  // the other one may be newer in another tab.
  function remark(name, value, note) {
    take({ [name]: value });
    send(urls.remark, [[name, value]], { note });
  }
  // Show these instead; what is being typed stays.
  function take(values) {
    const isUntouched = !isTyped();
    Object.assign(wish, values);
    if (isUntouched) comment.value = wish.comment;
    const isFlagged = wish.flag === "1";
    button.setAttribute("aria-pressed", String(isFlagged));
    button.value = isFlagged ? "0" : "1";
    find("flagged").hidden = !isFlagged;
    find("commented").hidden = !wish.comment.trim();
    find("commented").title = wish.comment;
  }
  const given = (act) => Object.keys(wish).filter((name) => fieldOf(act, name) !== undefined);
  function kept(act, isNewerOnTheWay) {
    for (const name of given(act)) stored[name] = fieldOf(act, name);
    if (!isNewerOnTheWay) take(stored);
  }
  // A refused flag or comment: what the server holds, with the words still in the box.
  function retry(act) {
    const names = given(act), isUntouched = !isTyped();
    for (const name of names) take({ [name]: stored[name] });
    if (!names.includes("comment")) return;
    refusedWords = fieldOf(act, "comment");
    if (isUntouched) comment.value = refusedWords;
    openComment();
  }
  function flag() {
    const isFlagged = wish.flag === "1";
    close();
    remark("flag", isFlagged ? "0" : "1", isFlagged ? "unflagged" : "flagged");
  }
  function keepComment() { remark("comment", comment.value, comment.value.trim() ? "comment-kept" : "comment-gone"); }
  // What was typed and not saved, before the item is left; not what was refused, which would lead back here again.
  function keepTyped() { if (isTyped() && comment.value !== refusedWords) keepComment(); }
  on(document, "visibilitychange", () => { if (document.hidden) keepTyped(); }); // a tab that is closed is hidden first
  on(find("flag-form"), "submit", (event) => { event.preventDefault(); flag(); });
  on(comment, "keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    find("comment-form").requestSubmit();
  });
  on(find("comment-form"), "submit", (event) => {
    event.preventDefault();
    close();
    if (isTyped()) keepComment(); else say(text("comment-same"));
  });

  // Skip, once what was answered is stored; a reason by its digit or in one's own words
  const form = find("skip-form"), reasons = form ? [...form.querySelectorAll("[name=reason]")] : [], other = form?.querySelector("[name=other]");
  const skip = () => leaveBy(async () => {
    const answer = await request(urls.skip, new URLSearchParams(new FormData(form))).catch(() => null);
    if (answer?.status !== 200) say(answer ? text("refused", { reason: answer.body.message ?? answer.status }) : text("unreachable"));
    if (answer?.status === 200) skipped();
    return answer?.body.next;
  });
  if (form) {
    on(form, "submit", (event) => { event.preventDefault(); skip(); });
    on(other, "input", () => { reasons.at(-1).checked = true; });
    on(reasons.at(-1), "change", () => other.focus());
  }
  function open(name) {
    menu.open = true;
    for (const each of ["comments", "skipping"]) find(each).open = each === name;
  }
  function openSkip() {
    open("skipping");
    (form?.querySelector("fieldset") ?? find("skipping").querySelector("button")).focus(); // not a text field: a key types nothing
  }
  function openComment() { open("comments"); comment.focus(); }
  on(find("comments"), "toggle", ({ newState, target }) => { if (newState === "open" && target.firstElementChild === document.activeElement) comment.focus(); });
  // A key while the focus is in an open box: its own, or none, for it does not concern the item.
  function choose(key, target) {
    const isSkipping = find("skipping").contains(target), reason = isSkipping ? reasons[Number(key) - 1] : undefined;
    if (!reason) return /^[^ ]$/.test(key) ? () => say(text(isSkipping && form ? "which-reason" : "box-open")) : undefined;
    return (() => { reason.checked = true; (reason === reasons.at(-1) ? other : reason).focus(); });
  }
  return { keys: { f: flag, F: openComment, s: openSkip }, kept, keepTyped, close, has, choose, retry };
}
