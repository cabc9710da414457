// The page of a pair: start it, and send what another page of this browser could not.
import { sendLeftovers } from "../labelling/outbox.js";
import { start } from "./page.js";

const here = () => document.querySelector("[data-validation]");
const config = () => JSON.parse(here().dataset.config);
start(here());
sendLeftovers(config());
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
