// What comes of an answer, in a trial and in training: the words, right or wrong, and the passage that decides.
import { reveal } from "../reading/places.js";

// The passage in the texts, painted without changing them; gives where it is, if it is there.
export function markDeciding(root, passage) {
  CSS.highlights?.delete("decides");
  const texts = passage && root.querySelector("[data-reading]");
  if (!texts || !CSS.highlights) return null;
  const walker = document.createTreeWalker(texts, NodeFilter.SHOW_TEXT), nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  let start = nodes.map((node) => node.data).join("").indexOf(passage), end = start + passage.length;
  if (start < 0) return null;
  const range = document.createRange();
  for (const node of nodes) {
    if (start >= 0 && start < node.length) range.setStart(node, start);
    if (end > 0 && end <= node.length) range.setEnd(node, end);
    start -= node.length;
    end -= node.length;
  }
  CSS.highlights.set("decides", new Highlight(range));
  return range;
}

export function explain(root, place, { feedback = "", is_right: isRight, decides = "" }) {
  Object.assign(place, { textContent: feedback, hidden: !feedback });
  place.classList.toggle("is-wrong", isRight === false);
  const passage = markDeciding(root, decides);
  if (feedback) place.scrollIntoView({ block: "nearest" });
  if (passage) reveal(passage, root.querySelector("[data-reading]").closest(".documents, section")); // the words may lie over it now
}
