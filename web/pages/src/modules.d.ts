declare module "virtual:theme.css";
declare module "nomadp-page";
