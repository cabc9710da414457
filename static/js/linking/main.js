// The page of a linking task: start it, and send what another page of this browser could not.
import { sendLeftovers } from "../labelling/outbox.js";
import { start } from "./page.js";

const root = document.querySelector("[data-linking]");
start(root);
sendLeftovers(JSON.parse(root.dataset.config));
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
