{{ config(materialized="incremental", unique_key="nbr") }}
SELECT
    nbr, amount, divisor, {{ omd.module_instance_id() }} AS omd_insert_module_instance_id,
    current_setting('lock_timeout') AS lock_timeout
FROM {{ source("raw", "orders") }}
