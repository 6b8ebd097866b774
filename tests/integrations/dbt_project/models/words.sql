{{ config(materialized="table") }}
SELECT word::integer AS number, {{ omd.module_instance_id() }} AS omd_insert_module_instance_id
FROM {{ source("raw", "words") }}
