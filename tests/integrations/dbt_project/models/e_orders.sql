{{ config(materialized="ephemeral") }}
SELECT *, {{ omd.module_instance_id() }} AS reader FROM {{ ref("v_orders") }}
