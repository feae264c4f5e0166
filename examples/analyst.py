# %% [markdown]
# # From reports to a map
# The people of a generated city each send one report of a trajectory. What can you estimate
# from these reports, and how reliable is it? [docs/analyst.md](../docs/analyst.md) says more.

# %%
import polars as pl

import nomadp
from nomadp.answers.picture import write_map

city = nomadp.synthetic_city(seed=1, places=150, trips=2000)
mechanism = nomadp.make_mechanism("atlas", city.locations, epsilon=6, size=128)

# %% [markdown]
# Devices make the reports. Here they are simulated with a seed, so that the results are the
# same on every machine. In a real collection you have them in files, or counted by a collector.

# %%
reports = nomadp.perturb_set(mechanism, city.trajectories, nomadp.SeededRandom(1))
counts = nomadp.Counts.of(mechanism, reports)
print(f"{counts.reports(mechanism)} reports, {len(counts.cells)} distinct ones")

# %% [markdown]
# A model is fitted to the reports once, and answers every query. A query uses no privacy
# budget, and its time does not depend on the number of reports.

# %%
model = nomadp.fit(mechanism, counts)
model.write("model.npz")  # to read it again later, with the same reports
hotspots = nomadp.hotspots(model, "grid:4")
density = nomadp.density(model, "grid:8")
flows = nomadp.flows(model, "grid:2")

# %% [markdown]
# In a notebook an estimate shows its map and its largest rows. Each row has its share of all
# visits, the standard error, a 90 % confidence interval, the baseline, a p-value, and whether
# the difference from the baseline is significant. With fewer than 64 codewords, intervals and
# p-values would be empty: hence `size=128`.

# %%
hotspots

# %% [markdown]
# The significant rows as a pandas data frame, the largest first.

# %%
frame = hotspots.to_pandas()
significant = frame[frame["significant"]].sort_values("share", ascending=False)
print(f"{len(significant)} of {len(frame)} areas differ significantly from the baseline")
significant[["zone", "share", "std_error", "ci_low", "ci_high", "baseline"]].round(3)

# %% [markdown]
# `about` describes the whole estimate.

# %%
about = hotspots.about
print(f"epsilon {about['epsilon']} by {about['mechanism']}, {about['reports']} reports")
poisoning = about["poisoning_1pct"]
points = 100 * poisoning["increase"]
print(f"1 % of invalid reports could add {points:.1f} percentage points to an area")

# %% [markdown]
# The same estimates in polars and GeoPandas, as files for other tools, and as one page
# that opens offline.

# %%
leaving = (
    flows.to_polars().filter("significant").filter(pl.col("origin") != pl.col("destination"))
)
print(f"{len(leaving)} flows between areas differ significantly from the baseline")
layer = density.to_geopandas()
print(f"{len(layer)} outlines in {layer.crs}")
density.write("density.geojson")
flows.write("flows.csv", flowmap=True)
write_map("city.html", [hotspots, density, flows], city.locations)
flows
