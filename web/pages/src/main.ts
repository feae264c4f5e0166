/** The dashboard, behind its sign-in. */
import "nomadp-page";
import "virtual:look.css";
import "./style.css";
import { dashboard } from "./dashboard";
import { h, show } from "./dom";
import { enter, forget, kept, signIn, type Entered } from "./signin";

const place = document.querySelector("#main")!;
const signOut = document.querySelector<HTMLButtonElement>("#sign-out")!;

const entered: Entered = (collector, tasks) => {
  signOut.hidden = false;
  dashboard(place, collector, tasks);
};

signOut.addEventListener("click", () => {
  forget();
  location.reload();
});

const token = kept();
if (token === null) {
  signIn(place, entered);
} else {
  show(place, h("p", { role: "status" }, "Loading the tasks …"));
  void enter(token, entered).then((trouble) => trouble && signIn(place, entered, trouble));
}
