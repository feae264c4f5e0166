/**
 * Distances on a spherical Earth, with the formulas of `nomadp.geometry` in the same order.
 *
 * Sines may differ in the last bit between machines. That may break a tie differently, but never
 * affects a guarantee.
 */

import { DomainError } from "./errors.js";

/** The mean radius of the Earth. */
export const EARTH_RADIUS_KM = 6371.0088;
const RADIANS = Math.PI / 180;

/** A point in WGS84, in degrees. */
export interface LatLng {
  readonly lat: number;
  readonly lng: number;
}

/** A point on Earth, with its longitude wrapped into [-180, 180); null if it is not on Earth. */
export function onEarth(lat: unknown, lng: unknown): LatLng | null {
  if (typeof lat !== "number" || typeof lng !== "number") return null;
  if (!(Math.abs(lat) <= 90) || !Number.isFinite(lng)) return null;
  const turned = lng >= -180 && lng < 180 ? lng : lng % 360; // % is exact, however large lng is
  return { lat, lng: turned - 360 * (Number(turned >= 180) - Number(turned < -180)) };
}

/** Sines and cosines of half the latitude and half the longitude of a point. */
export interface Place {
  readonly sinLat: number;
  readonly cosLat: number;
  readonly sinLng: number;
  readonly cosLng: number;
}

/** A point's `Place`. Longitudes -180 and 180, and all longitudes of a pole, give the same one. */
export function placeAt({ lat, lng }: LatLng): Place {
  if (!(Math.abs(lat) <= 90 && Math.abs(lng) <= 180)) {
    throw new DomainError(
      "latitudes must be from -90 to 90 and longitudes from -180 to 180 degrees; their " +
        "values are withheld",
      { code: "coordinates_out_of_range" },
    );
  }
  const turned = Math.abs(lat) === 90 ? 0 : lng === -180 ? 180 : lng;
  const [halfLat, halfLng] = [(lat * RADIANS) / 2, (turned * RADIANS) / 2];
  return {
    sinLat: Math.sin(halfLat),
    cosLat: Math.cos(halfLat),
    sinLng: Math.sin(halfLng),
    cosLng: Math.cos(halfLng),
  };
}

/** Great-circle distance: exactly symmetric, and exactly zero between equal places. */
export function distanceKm(a: Place, b: Place): number {
  const sinLng = b.sinLng * a.cosLng - b.cosLng * a.sinLng;
  const cosLng = b.cosLng * a.cosLng + b.sinLng * a.sinLng;
  const sinLat = b.sinLat * a.cosLat - b.cosLat * a.sinLat;
  const cosLat = b.cosLat * a.cosLat + b.sinLat * a.sinLat;
  const sinMid = a.sinLat * b.cosLat + a.cosLat * b.sinLat;
  const cosMid = a.cosLat * b.cosLat - a.sinLat * b.sinLat;
  // The haversine and its complement, each as a sum of squares, so that nothing cancels near
  // antipodes, where the usual formula loses half of the digits.
  const near = square(sinLat * cosLng) + square(cosMid * sinLng);
  const far = square(cosLat * cosLng) + square(sinMid * sinLng);
  return 2 * EARTH_RADIUS_KM * Math.atan2(Math.sqrt(near), Math.sqrt(far));
}

/** The great-circle distance between two points. */
export function haversineKm(a: LatLng, b: LatLng): number {
  return distanceKm(placeAt(a), placeAt(b));
}

/** The point as a vector on the unit sphere. */
export function unitVector({ lat, lng }: LatLng): [number, number, number] {
  const cosLat = Math.cos(lat * RADIANS);
  const angle = lng * RADIANS;
  return [cosLat * Math.cos(angle), cosLat * Math.sin(angle), Math.sin(lat * RADIANS)];
}

/** Round to the nearest integer, halves to even, like IEEE 754 and numpy. */
export function roundHalfEven(x: number): number {
  const low = Math.floor(x);
  const rest = x - low;
  if (rest !== 0.5) return rest < 0.5 ? low : low + 1;
  return low % 2 === 0 ? low : low + 1;
}

function square(x: number): number {
  return x * x;
}
