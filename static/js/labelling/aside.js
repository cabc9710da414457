// Flag, comment and skip: plain forms, sent without leaving the page where that is enough.
import { request } from "../talk.js";
import { fieldOf } from "./outbox.js";

export function startAside(root, { config, find, text, say, on, send, leaveBy }) {
  const { urls } = config, menu = find("menu");
  const close = () => { for (const each of root.querySelectorAll("details.over")) each.open = false; };
  const has = (target) => target.closest("details.over[open]");
  on(document, "click", ({ target }) => { for (const each of root.querySelectorAll("details.over[open]")) if (!each.contains(target)) each.open = false; });
  if (!config.is_open) return { keys: {}, kept() {}, close, has, choose() {}, retry() {} };

  const button = find("flag"), comment = root.querySelector("#comment");
  let isFlagged = button.getAttribute("aria-pressed") === "true", keptComment = comment.value;
  let stored = [isFlagged, keptComment]; // by the server's word

  // The newest wish shows at once; the server gets them in order, each time both in full, and confirms them in words.
  function remark({ flag = isFlagged, words = keptComment }) {
    const isSame = flag === isFlagged && words === keptComment;
    close();
    if (isSame) { say(text("comment-same")); return; }
    const note = flag !== isFlagged ? (flag ? "flagged" : "unflagged") : words.trim() ? "comment-kept" : "comment-gone";
    isFlagged = flag;
    keptComment = words;
    draw();
    send(urls.remark, [["flag", flag ? "1" : "0"], ["comment", words]], { note });
  }
  function draw() {
    button.setAttribute("aria-pressed", String(isFlagged));
    button.value = isFlagged ? "0" : "1";
    find("keep-comment").value = isFlagged ? "1" : "0";
    find("flagged").hidden = !isFlagged;
    find("commented").hidden = !keptComment.trim();
    find("commented").title = keptComment;
  }
  function kept(act, isNewerOnTheWay) {
    stored = [fieldOf(act, "flag") === "1", fieldOf(act, "comment")];
    if (isNewerOnTheWay) return;
    [isFlagged, keptComment] = stored;
    draw();
  }
  // A refused flag or comment: what the server holds, with the words still in the box.
  function retry(act) {
    [isFlagged, keptComment] = stored;
    draw();
    comment.value = fieldOf(act, "comment");
    openComment();
  }
  on(find("remark"), "submit", (event) => {
    event.preventDefault();
    remark(event.submitter === button ? { flag: !isFlagged } : { words: comment.value });
  });

  // Skip, once what was answered is stored; a reason by its digit or in one's own words
  const form = find("skip-form"), reasons = form ? [...form.querySelectorAll("[name=reason]")] : [], other = form?.querySelector("[name=other]");
  const skip = () => leaveBy(async () => {
    const answer = await request(urls.skip, new URLSearchParams(new FormData(form))).catch(() => null);
    if (answer?.status !== 200) say(answer ? text("refused", { reason: answer.body.message ?? answer.status }) : text("unreachable"));
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
  // A key while the focus is in an open box: its own, or none, for it does not concern the item.
  function choose(key, target) {
    const isSkipping = find("skipping").contains(target), reason = isSkipping ? reasons[Number(key) - 1] : undefined;
    if (!reason) return /^[^ ]$/.test(key) ? () => say(text(isSkipping && form ? "which-reason" : "box-open")) : undefined;
    return (() => { reason.checked = true; (reason === reasons.at(-1) ? other : reason).focus(); });
  }
  return { keys: { f: () => remark({ flag: !isFlagged }), F: openComment, s: openSkip }, kept, close, has, choose, retry };
}
