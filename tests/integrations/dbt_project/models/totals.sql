{{ config(materialized="table") }}
SELECT
    sum(amount) / min(divisor) AS total,
    {{ omd.module_instance_id() }} AS omd_insert_module_instance_id
FROM {{ ref("v_orders") }}
