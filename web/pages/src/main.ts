/** The entry point of the dashboard: signs in, then shows the tasks. */
import "nomadp-page";
import "virtual:theme.css";
import "./style.css";
import { dashboard } from "./dashboard";
import { h, show } from "./dom";
import { enter, forgetToken, type OnEnter, signIn, storedToken } from "./signin";

const place = document.querySelector("#main")!;
const signOut = document.querySelector<HTMLButtonElement>("#sign-out")!;

const onEnter: OnEnter = (collector, tasks) => {
  signOut.hidden = false;
  dashboard(place, collector, tasks);
};

signOut.addEventListener("click", () => {
  forgetToken();
  location.reload();
});

const token = storedToken();
if (token === null) {
  signIn(place, onEnter);
} else {
  show(place, h("p", { role: "status" }, "Loading the tasks …"));
  void enter(token, onEnter).then((problem) => problem && signIn(place, onEnter, problem));
}
