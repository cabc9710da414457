// Flag, comment and skip: plain forms, sent without leaving the page where that is enough.
import { request } from "../talk.js";

export function startAside(root, { config, find, text, say, on, outbox, leaveBy }) {
  const { urls } = config, boxes = [...root.querySelectorAll("details.over")];
  const close = () => { for (const each of boxes) each.open = false; };
  const has = (target) => target.closest("details.over[open]");
  if (!config.is_open) return { keys: {}, kept() {}, close, has, choose() {} };

  const button = find("flag"), comment = root.querySelector("#comment");
  let isFlagged = button.getAttribute("aria-pressed") === "true", keptComment = comment.value;

  // The newest wish shows at once; the server gets them in order, each time both in full.
  function remark({ flag = isFlagged, words = keptComment }) {
    const isSame = flag === isFlagged && words === keptComment;
    find("comments").open = false;
    if (isSame) { say(text("comment-same")); return; }
    const message = flag !== isFlagged ? (flag ? "flagged" : "unflagged") : words.trim() ? "comment-kept" : "comment-gone";
    isFlagged = flag;
    keptComment = words;
    draw();
    outbox.add(urls.remark, [["task", config.task], ["flag", flag ? "1" : "0"], ["comment", words]]);
    say(text(message));
  }
  function draw() {
    button.setAttribute("aria-pressed", String(isFlagged));
    button.value = isFlagged ? "0" : "1";
    find("keep-comment").value = isFlagged ? "1" : "0";
    find("commented").hidden = !keptComment.trim();
    find("comments").title = keptComment;
  }
  function kept(body, isNewerOnTheWay) {
    if (isNewerOnTheWay) return;
    isFlagged = body.is_flagged;
    draw();
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
  function openSkip() {
    const box = find("skipping");
    box.open = true;
    (form?.querySelector("fieldset") ?? box.querySelector("button")).focus(); // not a text field: a key types nothing
  }
  function openComment() { find("comments").open = true; comment.focus(); }
  // A key while the focus is in an open box: its own, or none, for it does not concern the item.
  function choose(key, target) {
    const isSkipping = find("skipping").contains(target), reason = isSkipping ? reasons[Number(key) - 1] : undefined;
    if (!reason) return /^[^ ]$/.test(key) ? () => say(text(isSkipping && form ? "which-reason" : "box-open")) : undefined;
    return (() => { reason.checked = true; (reason === reasons.at(-1) ? other : reason).focus(); });
  }
  return { keys: { f: () => remark({ flag: !isFlagged }), F: openComment, s: openSkip }, kept, close, has, choose };
}
