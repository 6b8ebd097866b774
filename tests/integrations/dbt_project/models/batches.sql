{{ config(
    materialized="incremental", incremental_strategy="microbatch", unique_key="nbr",
    event_time="written_at", begin="2026-01-01", batch_size="year"
) }}
SELECT nbr, written_at FROM {{ source("raw", "orders") }}
