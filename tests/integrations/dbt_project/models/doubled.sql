{{ config(materialized="table") }}
SELECT nbr, amount * 2 AS amount, reader AS omd_insert_module_instance_id
FROM {{ ref("e_orders") }}
