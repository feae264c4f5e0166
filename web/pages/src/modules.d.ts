declare module "virtual:look.css";
declare module "nomadp-page";
